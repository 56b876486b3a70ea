import { expect, inject, test } from 'vitest';
import { findFreePort } from '../../../local/ports.ts';
import { givenDatabase } from '../../../local/postgres/external-database.ts';

test('a database that lets us in is taken as it is', async () => {
  const url = inject('postgresUrl');
  expect(await givenDatabase(url)).toBe(url);
});

test.each([
  ['no server', async () => `postgres://user:hunter2@127.0.0.1:${await findFreePort()}/payments`],
  ['no such database', async () => inject('postgresUrl').replace(/\/[^/]*$/, '/nowhere')],
])('%s is one line that names the setting and not the password', async (_what, address) => {
  const refusal = await givenDatabase(await address()).catch((error: unknown) => error as Error);
  expect(refusal).toMatchObject({ reason: 'DATABASE_UNREACHABLE' });
  const { message } = refusal as Error;
  expect(message).toMatch(/^DATABASE_URL cannot be used: \S[^\n]*$/);
  expect(message).not.toContain('hunter2');
});
