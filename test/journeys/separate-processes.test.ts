import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { call } from '../gateway/http-call.ts';
import { TEMPORAL_START_MS } from '../support/temporal.ts';
import type { Receiver } from '../support/tls-receiver.ts';
import type { SandboxMerchant } from './sandbox-merchant.ts';
import { Load } from './separate-processes/load.ts';
import { historiesOf } from './separate-processes/secrets.ts';
import { type Role, SeparateSystem, STOP_DELAY_MS } from './separate-processes/separate-system.ts';
import { openShop, type RetriedReceiver, startRetriedReceiver } from './separate-processes/shop.ts';

const PROCESSES: readonly Role[] = [
  ...(['services', 'services', 'gateway', 'gateway', 'webhook-lanes', 'webhook-lanes'] as const),
  ...(['worker', 'worker', 'worker'] as const),
];
const ROLES: readonly Role[] = ['services', 'gateway', 'worker', 'webhook-lanes'];
/** Far less than the lease of a workflow command, which is 30 seconds, also on a busy machine. */
const WITHOUT_A_LEASE_MS = 12_000;
/** That lease, and what a busy machine takes. */
const AFTER_A_KILL_MS = 150_000;

let system: SeparateSystem;
let receiver: Receiver;
let merchant: SandboxMerchant;
let load: Load;
let key: string;
let deliveredAt: RetriedReceiver['deliveredAt'];

beforeAll(async () => {
  ({ receiver, deliveredAt } = await startRetriedReceiver());
  system = await SeparateSystem.open();
  await Promise.all(PROCESSES.map((role) => system.start(role)));
  ({ merchant, key } = await openShop(system, receiver));
  const publish = () => merchant.publish();
  load = new Load({ gateways: system.gateways, paths: ['/v1/refund-cases'], key, publish });
}, TEMPORAL_START_MS);
afterAll(async () => {
  await load?.stop().catch(() => undefined);
  await system?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
});

/** Waits until all events that were published have been delivered. @returns the longest that one took. */
async function slowestDelivery(from: number): Promise<number> {
  const events = [...load.published].filter(([, at]) => at >= from);
  await vi.waitFor(() => expect(events.filter(([id]) => !deliveredAt.has(id))).toEqual([]), {
    timeout: AFTER_A_KILL_MS,
    interval: 50,
  });
  return Math.max(...events.map(([id, at]) => deliveredAt.get(id)! - at));
}

const whatOf = (failures: Load['failures']) => [...new Set(failures.map(({ what }) => what.slice(0, 200)))];

it('gateways count rate limits together, and answer with public addresses, whatever they listen on', async () => {
  const gateways = [...system.running].filter(({ role }) => role === 'gateway');
  for (const { backend } of gateways) {
    const { text } = await call(backend.opsPort, '/metrics');
    expect(text).toContain('payments_rate_limit_store_up{environment="test"} 1');
  }
  const { status, json } = await call(system.gateways.next().port, '/v1/refund-cases');
  expect([status, json.type]).toEqual([401, expect.stringMatching(/^http:\/\/127\.0\.0\.1:8081\//)]);
});

it.each(ROLES)('no request fails and no delivery waits for a lease when one of %s stops', async (role) => {
  await load.moreEvents(5);
  const [failed, from] = [load.failures.length, Date.now()];
  const stopping = system.one(role);
  const ended = system.stop(stopping);
  if (STOP_DELAY_MS > 0 && (role === 'services' || role === 'gateway')) {
    const readyz = () => fetch(`http://127.0.0.1:${stopping.backend.opsPort}/readyz`);
    await vi.waitFor(async () => expect((await readyz()).status).toBe(503), { interval: 20 });
  }
  expect(await ended).toEqual({ exitCode: 0, stderr: '' });
  await load.moreEvents(10);
  expect(whatOf(load.failures.slice(failed))).toEqual([]);
  await system.start(role);
  expect(await slowestDelivery(from)).toBeLessThan(WITHOUT_A_LEASE_MS);
  expect(whatOf(load.failures.slice(failed))).toEqual([]);
});

it(
  'only requests in flight fail when one of each is killed, and all events are delivered',
  async () => {
    await load.moreEvents(5);
    const [failed, from] = [load.failures.length, Date.now()];
    const victims = ROLES.map((role) => system.one(role));
    await Promise.all(victims.map((victim) => system.kill(victim)));
    const killedAt = Date.now();
    await Promise.all(ROLES.map((role) => system.start(role)));
    await load.moreEvents(10);
    const backends = victims.map(({ backend }) => backend);
    for (const { what, backend, startedAt } of load.failures.slice(failed)) {
      expect(backend === undefined || backends.includes(backend), what).toBe(true);
      expect(startedAt, what).toBeLessThanOrEqual(killedAt);
    }
    await slowestDelivery(from);
  },
  2 * AFTER_A_KILL_MS,
);

it(
  'what was under load is whole: many requests, every event, and no file of the image has changed',
  async () => {
    await load.stop();
    await slowestDelivery(0);
    expect(load.requests).toBeGreaterThan(500);
    expect(await system.image.changed()).toEqual([]);
  },
  2 * AFTER_A_KILL_MS,
);

it('no log, metric or history of the whole run holds a secret', async () => {
  const { count, text: histories } = await historiesOf(system.temporal.client);
  const metrics = await Promise.all(
    [...system.running].map(async ({ backend }) => (await call(backend.opsPort, '/metrics')).text),
  );
  const logs = system.logs.join('');
  // What is searched is there, and not encoded.
  const { merchantId } = merchant.tenant;
  for (const text of [logs, histories]) expect(text.includes(merchantId)).toBe(true);
  expect(logs.includes('"level":20')).toBe(true);
  expect(count).toBeGreaterThan(10);
  // The prefixes of keys and secrets are shown on purpose.
  const issued = [key.slice('mpk_test_1234'.length), merchant.secret.slice('whsec_'.length)];
  const secrets = [...system.secrets, ...issued];
  expect(secrets.length).toBeGreaterThan(10);
  for (const [where, text] of Object.entries({ logs, histories, metrics: metrics.join('') })) {
    expect(
      secrets.filter((secret) => text.includes(secret)),
      where,
    ).toEqual([]);
  }
});
