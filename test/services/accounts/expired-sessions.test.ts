import { afterAll, expect, test } from 'vitest';
import { expiredSessions } from '../../../services/accounts/sessions/expired-sessions.ts';
import { startHarness } from '../../support/harness.ts';
import { openDatabase } from '../../support/open-database.ts';
import { sqlOf } from '../../support/sql.ts';
import { accountsFixture } from './accounts-fixture.ts';

const statements: string[] = [];
const harness = await startHarness({ SERVICES: 'accounts' });
const database = await openDatabase(harness.databaseUrl, { onStatement: (sql) => statements.push(sql) });
afterAll(async () => {
  await database.close();
  await harness.close();
});

const step = () => database.transaction((em) => expiredSessions.runBatch(em, database));
const left = async () => {
  const rows = await sqlOf<{ user_agent: string }>(harness, 'select user_agent from accounts.session');
  return rows.map(({ user_agent }) => user_agent).sort();
};
/** Adds sessions with `name` as their user agent that expire `expiry` from now. */
const add = (accountId: string, name: string, expiry: string, count = 1) =>
  sqlOf(
    harness,
    `insert into accounts.session
       (account_id, id, token_sha256, created_at, last_seen_at, expires_at, ip_address, user_agent)
     select $1, gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), now(), now(), now() + $3::interval, '', $2
       from generate_series(1, $4)`,
    [accountId, name, expiry, count],
  );

test('deletes sessions thirty days after they expired or ended, in bounded batches', async () => {
  const { client, signIn } = accountsFixture(harness.transports.inProcess);
  const { accountId, sessionId } = await signIn();
  await add(accountId, 'old', '-30 days -1 second', 2_003);
  await add(accountId, 'recent', '-29 days -23 hours');
  await add(accountId, 'open', '12 hours');
  expect([await step(), await step(), await step(), await step()]).toEqual([
    { rows: 1_000, more: true },
    { rows: 1_000, more: true },
    { rows: 3, more: false },
    { rows: 0, more: false },
  ]);
  expect(await left()).toEqual(['Browser/1.0', 'open', 'recent']);
  await client.endSession({ accountId, sessionId });
  await sqlOf(harness, `update accounts.session set expires_at = expires_at - interval '30 days'`);
  expect((await step()).rows).toBe(2);
  expect(await left()).toEqual(['open']);
});

test('finds the sessions to delete by the index on their expiry', async () => {
  const { accountId } = await accountsFixture(harness.transports.inProcess).signIn();
  await add(accountId, 'open', '12 hours', 20_000);
  await add(accountId, 'old', '-31 days', 100);
  await sqlOf(harness, 'analyze accounts.session');
  statements.length = 0;
  await step();
  const [statement] = statements.flatMap((text) => /delete from[\s\S]*skip locked\)\)/.exec(text) ?? []);
  const rows = await sqlOf<{ 'QUERY PLAN': string }>(harness, `explain ${statement}`);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toContain('Scan using session_expiry');
  expect(plan).not.toMatch(/Seq Scan|Sort|Bitmap/);
});
