import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { afterAll, expect, it } from 'vitest';
import { ApiKeyScope, ApiKeyService } from '../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { expiringKeyNotices, replacedKeyNotices } from '../../../services/api-keys/expiry-notices.ts';
import { DAY_MS } from '../../../services/platform/durations.ts';
import { newTenant, newWrite, startHarness } from '../../support/harness.ts';
import { openDatabase } from '../../support/open-database.ts';
import { query } from '../../support/sql.ts';

const harness = await startHarness();
const database = await openDatabase(harness.databaseUrl);
afterAll(async () => {
  await database.close();
  await harness.close();
});

/** A key that expires in some days, and its notices as time passes. */
async function issuedFor(days: number, environment = Environment.LIVE) {
  const tenant = newTenant(environment);
  const client = createClient(ApiKeyService, harness.transports.inProcess);
  const write = () => newWrite(tenant);
  const scopes = [ApiKeyScope.FUNDS_READ];
  const expiresAt = timestampFromMs(Date.now() + days * DAY_MS);
  const { apiKey } = await client.issueApiKey({ ...write(), name: 'Shop', scopes, expiresAt });
  const { id } = apiKey!;
  return {
    revoke: () => client.revokeApiKey({ ...write(), apiKeyId: id }),
    rotate: (overlapDays = 30) =>
      client.rotateApiKey({ ...write(), apiKeyId: id, overlapSeconds: overlapDays * 86_400 }),
    /** The key was used some days ago. */
    used: (daysAgo: number) =>
      query(
        harness.databaseUrl,
        `update api_keys.api_key set last_used_at = now() - interval '24 hours' * ${daysAgo} where id = '${id}'`,
      ),
    /** How many notices were started once some days have passed and the task has run twice. */
    noticesAfter: async (passed: number) => {
      const earlier = (column: string) => `${column} = ${column} - interval '24 hours' * ${passed}`;
      const times = ['created_at', 'expires_at', 'rotated_at', 'last_used_at'].map(earlier).join();
      const age = `update api_keys.api_key set ${times} where id = '${id}'`;
      await query(harness.databaseUrl, age);
      for (let runs = 0; runs < 2; runs += 1) {
        for (const task of [expiringKeyNotices, replacedKeyNotices]) {
          await database.transaction((em) => task.runBatch(em, database));
        }
      }
      const started = `select arguments from platform.outbox_command where workflow_id = 'notice-API_KEY_EXPIRING-${id}'`;
      const commands = await query(harness.databaseUrl, started);
      const input = {
        merchantId: tenant.merchantId,
        environment: 'live',
        kind: 'API_KEY_EXPIRING',
        subjectId: id,
      };
      for (const command of commands) expect(command).toEqual({ arguments: [input] });
      return commands.length;
    },
  };
}

it('a notice is sent a week and a day before a key expires, once each', async () => {
  const key = await issuedFor(30);
  const notices: number[] = [];
  for (const days of [22.9, 0.2, 5.8, 0.2, 1]) notices.push(await key.noticesAfter(days));
  expect(notices).toEqual([0, 1, 1, 2, 2]);
});

it('a key whose first notice was missed has one notice', async () => {
  expect(await (await issuedFor(30)).noticesAfter(29.5)).toBe(1);
});

it('a key that is issued for less time than a notice comes before its end does not have that notice', async () => {
  const days = await issuedFor(3);
  expect([await days.noticesAfter(0), await days.noticesAfter(2.1)]).toEqual([0, 1]);
  const hours = await issuedFor(0.9);
  expect([await hours.noticesAfter(0), await hours.noticesAfter(0.8)]).toEqual([0, 0]);
});

it('a replaced key has one notice, a day before its end, if it was used in the day before', async () => {
  const key = await issuedFor(60);
  await key.rotate(7);
  await key.used(0);
  expect(await key.noticesAfter(5.9)).toBe(0);
  await key.used(0.9);
  const notices = [await key.noticesAfter(0), await key.noticesAfter(0.15)];
  await key.used(0.1);
  notices.push(await key.noticesAfter(0), await key.noticesAfter(0.3));
  await key.used(0);
  notices.push(await key.noticesAfter(0));
  expect(notices).toEqual([0, 0, 1, 1, 1]);
});

it('a replaced key that ends in two days or less has its notice halfway, if it was used in the quarter before', async () => {
  const [early, used, unused] = [await issuedFor(60), await issuedFor(60), await issuedFor(60)];
  for (const key of [early, used, unused]) await key.rotate(1);
  await early.used(0);
  expect(await early.noticesAfter(0.45)).toBe(0);
  await used.used(-0.3);
  expect(await used.noticesAfter(0.52)).toBe(1);
  await unused.used(-0.2);
  expect(await unused.noticesAfter(0.52)).toBe(0);
});

it('a replaced key that is revoked, of the sandbox or was used only before the rotation has no notice', async () => {
  const [revoked, sandbox, before] = [
    await issuedFor(60),
    await issuedFor(60, Environment.TEST),
    await issuedFor(60),
  ];
  for (const key of [revoked, sandbox, before]) await key.rotate(1);
  await revoked.revoke();
  await before.used(0.01);
  expect(await before.noticesAfter(0.6)).toBe(0);
  for (const key of [revoked, sandbox]) {
    await key.used(-0.6);
    expect(await key.noticesAfter(0.6)).toBe(0);
  }
});

it('a key that is revoked, rotated or of the sandbox has no notice', async () => {
  const [revoked, replaced] = [await issuedFor(8), await issuedFor(8)];
  await revoked.revoke();
  await replaced.rotate();
  const sandbox = await issuedFor(8, Environment.TEST);
  for (const key of [revoked, replaced, sandbox]) {
    expect([await key.noticesAfter(2), await key.noticesAfter(5.5)]).toEqual([0, 0]);
  }
});
