import type { PoolClient } from 'pg';

/** As PostgreSQL answers a write in recovery: read_only_sql_transaction. */
const READ_ONLY = '25006';
const IS_STANDBY = 'the PostgreSQL server is a standby, not the primary';

/**
 * The `verify` of a pool: refuses a new connection to a standby, as `target_session_attrs=primary` of libpq does.
 * During a failover, the database's name may still resolve to the former primary, and a connection made then would
 * keep reading there long after the name resolves to the new one.
 */
export function requirePrimary(client: PoolClient, done: (error?: Error) => void): void {
  client
    .query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
    .then(
      ({ rows }) =>
        done(rows[0]!.standby ? Object.assign(new Error(IS_STANDBY), { code: READ_ONLY }) : undefined),
      done,
    );
}
