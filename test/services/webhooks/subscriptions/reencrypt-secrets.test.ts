import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { KeyRing } from '../../../../services/platform/key-ring.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { ALL_GRANTS } from '../../../../services/platform/rpc/grants.ts';
import { createServices } from '../../../../services/server.ts';
import { reencryptSecrets } from '../../../../services/webhooks/subscriptions/reencrypt-secrets.ts';
import { createTestDatabase, newTenant, newWrite, testConfig } from '../../../support/harness.ts';
import { createLoopbackGuard } from '../../../support/loopback-guard.ts';
import { startProgram } from '../../../support/program.ts';
import { openSession } from '../../../support/sql.ts';
import { startReceiver } from '../../../support/tls-receiver.ts';
import { deliverWaiting } from '../../platform/egress/deliver-waiting.ts';
import { webhooksFixture } from '../webhooks-fixture.ts';

const COMMAND = 'services/reencrypt-secrets.ts';
const newKeyText = (version: number) => `v${version}:${randomBytes(32).toString('base64')}`;
const [OLD, NEW] = [newKeyText(1), newKeyText(2)];
const NEW_FIRST = `${NEW},${OLD}`;

const receiver = await startReceiver();
afterAll(() => receiver[Symbol.asyncDispose]());

let databaseUrl: string;
let client: pg.Client;
beforeEach(async () => {
  databaseUrl = await createTestDatabase();
  client = await openSession(databaseUrl);
});
afterEach(() => client.end());

/** The services on the test's database, with these keys. */
async function open(keys: string) {
  const settings = { SERVICES: 'webhooks', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', WEBHOOK_SECRET_KEYS: keys };
  const config = testConfig({ ...settings, WEBHOOK_SUBSCRIPTION_LIMIT: '1000' });
  const services = await createServices({ config, databaseUrl, logger: createLogger('silent') });
  const transport = services.transportFor({ name: 'test', grants: new Set(ALL_GRANTS) });
  const fixture = webhooksFixture({ databaseUrl }, transport);
  return {
    fixture,
    async deliver() {
      await using guard = createLoopbackGuard();
      await deliverWaiting({ config, databaseUrl }, { live: guard, test: guard });
    },
    [Symbol.asyncDispose]: () => services.close(),
  };
}

type Fixture = Awaited<ReturnType<typeof open>>['fixture'];

/** A subscription of a new tenant, and its secret unless it must stay unrevealed. */
async function subscribe(fixture: Fixture, path = `/${randomUUID()}`) {
  const tenant = newTenant(Environment.TEST);
  const { id } = await fixture.subscribe(tenant, undefined, `https://127.0.0.1:${receiver.port}${path}`);
  const about = () => ({ ...newWrite(tenant), subscriptionId: id });
  return { tenant, id, path, about };
}

const reveal = async (fixture: Fixture, { about }: Awaited<ReturnType<typeof subscribe>>) =>
  (await fixture.subscriptions.revealSigningSecret(about())).signingSecret;

async function run(keys: string) {
  const program = startProgram(COMMAND, { DATABASE_URL: databaseUrl, WEBHOOK_SECRET_KEYS: keys });
  const { exitCode, stderr } = await program.exited;
  return { code: exitCode, stdout: program.logged(), stderr };
}

const keysInUse = async () => {
  const { rows } = await client.query<{ key_id: number }>(
    'select distinct key_id from webhooks.signing_secret order by key_id',
  );
  return rows.map(({ key_id }) => key_id);
};

describe('the command that re-encrypts signing secrets', () => {
  it('makes the old key unnecessary: its secrets still sign and can be revealed with only the new one', async () => {
    const before = await open(OLD);
    const [seen, unseen] = [await subscribe(before.fixture), await subscribe(before.fixture)];
    const former = await reveal(before.fixture, seen);
    await before.fixture.subscriptions.rotateSigningSecret(seen.about());
    const current = await reveal(before.fixture, seen);
    await before[Symbol.asyncDispose]();
    {
      await using both = await open(NEW_FIRST);
      await subscribe(both.fixture);
      expect(await keysInUse()).toEqual([1, 2]);
    }
    {
      await using early = await open(NEW);
      await expect(reveal(early.fixture, unseen)).rejects.toThrow('internal error');
    }
    const { code, stdout } = await run(NEW_FIRST);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'resealed 3 of 3\nresealed 3 with v2; with other keys: 0\n',
    });
    await using after = await open(NEW);
    await after.deliver();
    expect(await reveal(after.fixture, unseen)).toMatch(/^whsec_/);
    const [request] = receiver.requests.filter(({ path }) => path === seen.path);
    for (const secret of [current, former]) {
      const headers = request!.headers as Record<string, string>;
      expect(new Webhook(secret).verify(request!.body, headers)).toMatchObject({ type: 'webhook.ping.v1' });
    }
  });

  it('skips a secret that cannot be decrypted, names its subscription, and exits with 1', async () => {
    await using old = await open(OLD);
    const [broken, sound] = [await subscribe(old.fixture), await subscribe(old.fixture)];
    await client.query(
      `update webhooks.signing_secret set sealed = (select sealed from webhooks.signing_secret
         where subscription_id = $2) where subscription_id = $1`,
      [broken.id, sound.id],
    );
    const { code, stdout, stderr } = await run(NEW_FIRST);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `a secret of subscription ${broken.id} cannot be opened\n`,
    });
    expect(stdout).toContain('resealed 1 with v2; with other keys: 1\n');
    expect((await run(NEW)).code).toBe(1);
    await using both = await open(NEW_FIRST);
    expect(await reveal(both.fixture, sound)).toMatch(/^whsec_/);
  });

  it('continues after a whole batch of secrets that cannot be decrypted', async () => {
    await using old = await open(OLD);
    for (let count = 0; count < 3; count += 1) await subscribe(old.fixture);
    const { rows } = await client.query<{ subscription_id: string }>(
      `update webhooks.signing_secret set sealed = '\\x00' where id in (
         select id from webhooks.signing_secret order by merchant_id limit 2) returning subscription_id`,
    );
    const outcome = await reencryptSecrets(client, KeyRing.parse(NEW_FIRST), { batchSize: 1 });
    const broken = rows.map(({ subscription_id }) => subscription_id);
    expect(outcome).toEqual({ resealed: 1, unopened: expect.arrayContaining(broken), left: 2 });
    expect(outcome.unopened).toHaveLength(2);
  });

  it('continues where it was stopped, and does nothing once it is done', async () => {
    await using old = await open(OLD);
    for (let count = 0; count < 5; count += 1) await subscribe(old.fixture);
    const keys = KeyRing.parse(NEW_FIRST);
    const stop = new AbortController();
    const stopped = await reencryptSecrets(client, keys, {
      batchSize: 2,
      signal: stop.signal,
      onBatch: () => stop.abort(),
    });
    expect(stopped).toEqual({ resealed: 2, unopened: [], left: 3 });
    const reports: number[] = [];
    const onBatch = (resealed: number) => reports.push(resealed);
    const rest = await reencryptSecrets(client, keys, { batchSize: 2, onBatch });
    expect(rest).toEqual({ resealed: 3, unopened: [], left: 0 });
    expect(reports).toEqual([2, 3]);
    expect(await reencryptSecrets(client, keys)).toEqual({ resealed: 0, unopened: [], left: 0 });
  });

  it('runs beside another run and services that rotate, reveal and deliver, without losing a secret', async () => {
    await using both = await open(`${OLD},${NEW}`);
    const subscriptions = await Promise.all(Array.from({ length: 25 }, () => subscribe(both.fixture)));
    const secrets = new Map<string, string>();
    for (const one of subscriptions) secrets.set(one.id, await reveal(both.fixture, one));
    await using second = await open(NEW_FIRST);
    await using other = await openSession(databaseUrl);
    const keys = KeyRing.parse(NEW_FIRST);
    const [one, two] = await Promise.all([
      reencryptSecrets(client, keys, { batchSize: 1 }),
      reencryptSecrets(other, keys, { batchSize: 1 }),
      second.deliver(),
      ...subscriptions.slice(0, 10).map(async (about) => {
        await second.fixture.subscriptions.rotateSigningSecret(about.about());
        await reveal(second.fixture, about);
      }),
    ]);
    await other.end();
    expect([one.resealed + two.resealed, one.left, two.left, await keysInUse()]).toEqual([25, 0, 0, [2]]);
    await using only = await open(NEW);
    await Promise.all(subscriptions.map(({ tenant }) => only.fixture.publish(tenant)));
    await only.deliver();
    for (const { id, path } of subscriptions) {
      const requests = receiver.requests.filter((request) => request.path === path);
      expect(requests).toHaveLength(2);
      for (const { body, headers } of requests) {
        new Webhook(secrets.get(id)!).verify(body, headers as Record<string, string>);
      }
    }
  });
});
