import pg from 'pg';

/** How the rows of a statement are parsed: what a Result of pg derives from a description of its columns. */
interface RowParsing {
  readonly fields: unknown;
  readonly _parsers: unknown;
  readonly _prebuiltEmptyResultObject: unknown;
}

/** The part of pg's Query that its types leave out. */
interface DescribingQuery extends pg.Query {
  readonly name: string | undefined;
  readonly _result: RowParsing;
  callback?: (error: Error | null, result: pg.QueryResult) => void;
  _accumulateRows: boolean;
  prepare(connection: pg.Connection): void;
  handleRowDescription(message: unknown): void;
  handleError(error: unknown, connection: pg.Connection): void;
}

const DescribingQuery = pg.Query as unknown as new (config: pg.QueryConfig) => DescribingQuery;

/** A connection on which some statements have been prepared and described. */
interface Described {
  readonly statements: Map<string, RowParsing>;
  /** The connection, but it does not ask for descriptions. */
  readonly undescribed: pg.Connection;
}

const connections = new WeakMap<pg.Connection, Described>();

/**
 * A named prepared statement that asks for a description of its columns only the first time on each connection. pg asks each
 * time, and for a row of thirty columns reading the answer costs more than the row. PostgreSQL never changes the columns of a
 * prepared statement: it fails instead.
 */
export class PreparedQuery extends DescribingQuery {
  #connection: pg.Connection | undefined;

  override prepare(connection: pg.Connection): void {
    this.#connection = connection;
    const described = connections.get(connection);
    const known = described?.statements.get(this.name ?? '');
    if (!described || !known) {
      super.prepare(connection);
      return;
    }
    Object.assign(this._result, known);
    this._accumulateRows = true;
    super.prepare(described.undescribed);
  }

  override handleRowDescription(message: unknown): void {
    super.handleRowDescription(message);
    const connection = this.#connection;
    if (!connection || this.name === undefined) return;
    let described = connections.get(connection);
    if (!described) {
      const undescribed: pg.Connection = Object.create(connection, { describe: { value: () => undefined } });
      described = { statements: new Map(), undescribed };
      connections.set(connection, described);
    }
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result;
    described.statements.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject });
  }

  /** Behind a pooler, a failure may mean that the statement is another one by now. */
  override handleError(error: unknown, connection: pg.Connection): void {
    if (this.#connection) connections.get(this.#connection)?.statements.delete(this.name ?? '');
    super.handleError(error, connection);
  }
}
