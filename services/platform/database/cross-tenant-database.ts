import pg, { type PoolClient } from 'pg';
import { type Database, retryTransaction } from './database.ts';
import { inTransaction } from './in-transaction.ts';
import { bindNamed, type NamedParameters } from './named-sql.ts';
import { traceSql } from './trace-sql.ts';

/** A statement over all merchants with named parameters, prepared under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Runs a statement; rows come with int8 as bigint and timestamptz as Date. */
export type Run = <Row>(statement: Statement, parameters?: NamedParameters) => Promise<Row[]>;

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, (text) => BigInt(text));

/** A connection of its own: a statement fails once the connection has broken. */
export interface Session {
  readonly run: Run;
  close(): void;
}

/** Runs set-based SQL of background work, which spans all merchants and so runs outside tenant transactions. */
export class CrossTenantDatabase {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Runs one statement in its own transaction. */
  readonly run: Run = <Row>(statement: Statement, parameters: NamedParameters = {}) =>
    traceSql(statement.name, undefined, async () => {
      const connection = await this.#database.connect();
      try {
        return await this.#query<Row>(connection, statement, parameters);
      } catch (error) {
        // PostgreSQL reports an error before it has ended the transaction, whose locks the caller may take next.
        if (error instanceof pg.DatabaseError) await connection.query('').catch(() => undefined);
        throw error;
      } finally {
        connection.release();
      }
    });

  /** Opens a session, for a reader that has to notice when PostgreSQL was restarted. Runs one statement at a time. */
  async session(): Promise<Session> {
    const connection = await this.#database.connect();
    let last: Promise<unknown> = Promise.resolve();
    return {
      run: <Row>(statement: Statement, parameters: NamedParameters = {}) => {
        const result = last.then(() => this.#query<Row>(connection, statement, parameters));
        last = result.catch(() => undefined);
        return result;
      },
      close: () => connection.release(true),
    };
  }

  /** Runs statements in one transaction; retries as described at {@link retryTransaction}. */
  transaction<T>(work: (run: Run) => Promise<T>): Promise<T> {
    const once = async () => {
      const connection = await this.#database.connect();
      const run: Run = (statement, parameters = {}) => this.#query(connection, statement, parameters);
      return inTransaction(connection, 'begin', () => work(run));
    };
    return traceSql('transaction', undefined, () => retryTransaction(once));
  }

  async #query<Row>(connection: PoolClient, { name, text }: Statement, parameters: NamedParameters) {
    const result = await connection.query({
      ...(this.#database.preparedStatements && { name: `cross_tenant_${name}` }),
      ...bindNamed(text, parameters),
      types,
    });
    return result.rows as Row[];
  }
}
