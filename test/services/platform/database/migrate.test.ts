import { expect, it } from 'vitest';
import { migrateOnceReachable } from '../../../../services/platform/database/migrate.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { createTestDatabase } from '../../../support/harness.ts';
import { query } from '../../../support/sql.ts';

/** Ends the connection that creates the first table of a migration, once. */
const INTERRUPT_ONCE = `
create sequence public.attempts;
create function public.interrupt() returns event_trigger language plpgsql as $$
begin
  if nextval('public.attempts') = 3 then perform pg_terminate_backend(pg_backend_pid()); end if;
end $$;
create event trigger interrupt on ddl_command_start when tag in ('CREATE TABLE') execute function public.interrupt()`;

it('a process whose migration loses its connection migrates again', async () => {
  const databaseUrl = await createTestDatabase('template1');
  await query(databaseUrl, INTERRUPT_ONCE);
  const applied = await migrateOnceReachable(databaseUrl, createLogger('silent'));
  expect(applied.length).toBeGreaterThan(10);
});

it('a process whose database does not exist ends instead of waiting for it', async () => {
  const url = new URL(await createTestDatabase('template1'));
  url.pathname += '_misspelled';
  await expect(migrateOnceReachable(url.href, createLogger('silent'))).rejects.toThrow('does not exist');
});
