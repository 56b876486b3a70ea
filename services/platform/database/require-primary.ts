import type { PoolClient } from 'pg';

/** As PostgreSQL answers a write in recovery: read_only_sql_transaction. */
const READ_ONLY = '25006';

/**
 * The `verify` of a pool: refuses a new connection to a standby, as `target_session_attrs=primary` of libpq does.
 * During a failover, the database's name may still resolve to the former primary, and a connection made then would
 * keep reading there long after the name resolves to the new one.
 */
export function requirePrimary(client: PoolClient, done: (error?: Error) => void): void {
  client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby').then(
    ({ rows }) => (rows[0]!.standby ? done(standbyError()) : done()),
    (error: Error) => done(error),
  );
}

const standbyError = () =>
  Object.assign(new Error('the PostgreSQL server is a standby, not the primary'), { code: READ_ONLY });
