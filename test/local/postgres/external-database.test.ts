import { expect, inject, test } from 'vitest';
import { findFreePort } from '../../../local/ports.ts';
import { assertDatabaseReachable } from '../../../local/postgres/external-database.ts';

test('a database that accepts the connection passes', async () => {
  await assertDatabaseReachable(inject('postgresUrl'));
});

test.each([
  ['no server', async () => `postgres://user:hunter2@127.0.0.1:${await findFreePort()}/payments`],
  ['no such database', async () => inject('postgresUrl').replace(/\/[^/]*$/, '/nowhere')],
])('%s: one line names the setting without the password', async (_case, address) => {
  const failure = await assertDatabaseReachable(await address()).catch((error: unknown) => error);
  expect(failure).toMatchObject({ reason: 'DATABASE_UNREACHABLE' });
  const { message } = failure as Error;
  expect(message).toMatch(/^cannot connect to DATABASE_URL: \S[^\n]*$/);
  expect(message).not.toContain('hunter2');
});
