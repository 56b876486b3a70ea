import pg, { type PoolClient } from 'pg';
import { type Database, retryTransaction } from './database.ts';
import { bindNamed, type NamedParameters } from './named-sql.ts';

/** A statement over all merchants with named parameters, prepared under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Runs a statement; rows come with int8 as bigint and timestamptz as Date. */
export type Run = <Row>(statement: Statement, parameters?: NamedParameters) => Promise<Row[]>;

const INT8 = 20;
const types = new pg.TypeOverrides();
types.setTypeParser(INT8, (text) => BigInt(text));

/** Set-based SQL of background work, which handles all merchants at once and so runs outside any tenant's transaction. */
export class CrossTenantDatabase {
  readonly #database: Database;
  readonly #prepared: boolean;

  constructor(database: Database, preparedStatements: boolean) {
    this.#database = database;
    this.#prepared = preparedStatements;
  }

  /** Runs one statement as a transaction by itself. */
  readonly run: Run = async <Row>(statement: Statement, parameters: NamedParameters = {}) => {
    const connection = await this.#database.connect();
    try {
      return await this.#query<Row>(connection, statement, parameters);
    } finally {
      connection.release();
    }
  };

  /**
   * Runs statements in one transaction; restarts the work after a deadlock, a bounded number of times.
   * @param options.lockTimeoutMs how long a statement waits for a row lock before it fails; default: the session's.
   */
  transaction<T>(
    work: (run: Run) => Promise<T>,
    { lockTimeoutMs }: { lockTimeoutMs?: number } = {},
  ): Promise<T> {
    const begin = lockTimeoutMs === undefined ? 'begin' : `begin; set local lock_timeout = ${lockTimeoutMs}`;
    return retryTransaction(() => this.#transactionOnce(begin, work));
  }

  async #transactionOnce<T>(begin: string, work: (run: Run) => Promise<T>): Promise<T> {
    const connection = await this.#database.connect();
    let broken = false;
    try {
      await connection.query(begin);
      const answer = await work((statement, parameters = {}) =>
        this.#query(connection, statement, parameters),
      );
      await connection.query('commit');
      return answer;
    } catch (error) {
      await connection.query('rollback').catch(() => {
        broken = true;
      });
      throw error;
    } finally {
      connection.release(broken);
    }
  }

  async #query<Row>(connection: PoolClient, { name, text }: Statement, parameters: NamedParameters) {
    const result = await connection.query({
      ...(this.#prepared && { name: `cross_tenant_${name}` }),
      ...bindNamed(text, parameters),
      types,
    });
    return result.rows as Row[];
  }
}
