import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { GATEWAY_CALLER } from '../../gateway/clients.ts';
import { findFreePort } from '../../local/ports.ts';
import { startPostgres } from '../../local/postgres/postgres-server.ts';
import { ApiKeyScope } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { metrics } from '../../services/platform/process/telemetry.ts';
import { temporaryDataFolder } from '../local/temporary-data-folder.ts';
import { startLossyProxy } from '../support/lossy-proxy.ts';
import { startRuntime } from '../support/runtime-process.ts';
import { query } from '../support/sql.ts';
import { databaseNamed } from '../support/template-database.ts';
import { newMerchant, startGateways } from './gateway-harness.ts';
import { type Answer, call } from './http-call.ts';
import { startListener } from './listen.ts';

const PATH = '/v1/refund-cases';
const LIMITS = { RATE_LIMIT_LIVE: '10', RATE_LIMIT_SANDBOX: '4', RATE_LIMIT_ADDRESS: '6' };

const harness = await startGateways({ ...LIMITS, SERVICES: 'refunds,api-keys' });
afterAll(() => harness.close());

/** Another gateway on the services of the harness, with a store; its log lines from `warn` or `info` on. */
async function startGateway(store: string, environment: 'live' | 'test' = 'live', overrides = {}) {
  const lines: { level: number; msg: string; err?: { message: string } }[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const { config, databaseUrl, services } = harness.harness;
  const { port } = await startListener({
    environment,
    config: { ...config, DATABASE_URL: databaseUrl, RATE_LIMIT_STORE: store, ...overrides },
    transport: services.transportFor(GATEWAY_CALLER),
    logger: pino({}, stream),
  });
  const storeLogs = () => lines.filter(({ msg }) => msg.startsWith('the rate-limit store'));
  return { port, storeLogs };
}

/** A database without anything in it. */
async function createEmptyDatabase(): Promise<string> {
  const name = `counts_${randomUUID().replaceAll('-', '')}`;
  await query(inject('postgresUrl'), `create database ${name}`);
  return databaseNamed(inject('postgresUrl'), name);
}

/**
 * Sends this many requests at once to each port within one second; returns the number of responses by status. Tries
 * again on a machine that is too busy for that.
 */
async function burst(
  ports: readonly number[],
  count: number,
  send: (port: number) => Promise<Answer>,
  tries = 5,
): Promise<Record<number, number>> {
  await delay(1_100);
  const startedAt = performance.now();
  const answers = await Promise.all(ports.flatMap((port) => Array.from({ length: count }, () => send(port))));
  if (performance.now() - startedAt > 900 && tries > 1) return burst(ports, count, send, tries - 1);
  for (const { status, headers } of answers) {
    if (status === 429) expect(headers['retry-after']).toBe('1');
  }
  return statuses(answers);
}

function statuses(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const withKey = (key: string) => (port: number) => call(port, PATH, { key });

/** The store's metric. */
const readStoreUp = async () =>
  /^payments_rate_limit_store_up\{environment="live"\} (\d)$/m.exec(await metrics.metrics())?.[1];

describe('gateways that share a store', () => {
  it('share one quota for each key and environment', async () => {
    const [one, two] = [await startGateway('postgresql'), await startGateway('postgresql')];
    const sandboxes = [await startGateway('postgresql', 'test'), await startGateway('postgresql', 'test')];
    const [mine, other] = [await newMerchant(harness), await newMerchant(harness)];
    const live = [one.port, two.port];
    const sandbox = sandboxes.map(({ port }) => port);
    for (const port of live) await call(port, PATH, { key: mine.keys.live });

    expect(await burst(live, 30, withKey(mine.keys.live))).toEqual({ 200: 10, 429: 50 });
    expect(statuses(await Promise.all(live.map(withKey(other.keys.live))))).toEqual({ 200: 2 });
    expect(await burst(sandbox, 10, withKey(mine.keys.test))).toEqual({ 200: 4, 429: 16 });
    expect([...one.storeLogs(), ...two.storeLogs()]).toEqual([]);
  });

  it('report the shared remaining quota in each response', async () => {
    const [one, two] = [await startGateway('postgresql'), await startGateway('postgresql')];
    const { key } = await harness.issueKey(randomUUID(), Environment.LIVE, [ApiKeyScope.REFUNDS_READ]);
    for (const { port } of [one, two]) await call(port, PATH, { key });
    await delay(1_100);
    const ratelimit = async (port: number) => (await call(port, PATH, { key })).headers.ratelimit;
    expect([await ratelimit(one.port), await ratelimit(two.port), await ratelimit(one.port)]).toEqual([
      '"key";r=9;t=1',
      '"key";r=8;t=1',
      '"key";r=7;t=1',
    ]);
  });

  it('share the limit of an address without a valid key, and accept valid keys from it', async () => {
    const ports = [(await startGateway('postgresql')).port, (await startGateway('postgresql')).port];
    const { keys } = await newMerchant(harness);
    expect(await burst(ports, 12, (port) => call(port, PATH))).toEqual({ 401: 6, 429: 18 });
    expect(statuses(await Promise.all(ports.map(withKey(keys.live))))).toEqual({ 200: 2 });
  });

  it('do so as separate processes with a database of their own', async () => {
    const store = await createEmptyDatabase();
    const { baseUrl, token } = harness.harness;
    const start = async () => {
      const [live, sandbox, ops] = [await findFreePort(), await findFreePort(), await findFreePort()];
      const { logged } = startRuntime('gateway/main.ts', {
        LIVE_PORT: String(live),
        SANDBOX_PORT: String(sandbox),
        OPS_PORT: String(ops),
        SERVICES_URL: baseUrl,
        SERVICE_TOKEN: token,
        ...LIMITS,
        RATE_LIMIT_STORE: store,
      });
      await expect.poll(logged, { timeout: 40_000 }).toContain('the public API is listening');
      return { live, ops, logged };
    };
    const processes = await Promise.all([start(), start()]);
    const ports = processes.map(({ live }) => live);
    const { keys } = await newMerchant(harness);
    for (const port of ports) await call(port, PATH, { key: keys.live });

    expect(await burst(ports, 30, withKey(keys.live))).toEqual({ 200: 10, 429: 50 });
    for (const { ops, logged } of processes) {
      expect((await call(ops, '/metrics')).text).toContain(
        'payments_rate_limit_store_up{environment="live"} 1',
      );
      expect(logged()).not.toContain('the rate-limit store');
    }
  });

  it('require only read and write access to one table', async () => {
    const store = await createEmptyDatabase();
    await startGateway(store);
    const role = `counter_${randomUUID().slice(0, 8)}`;
    await query(store, `create role ${role} login password 'counts'`);
    await query(store, `grant usage on schema rate_limit to ${role}`);
    await query(store, `grant select, insert, update, delete on rate_limit.request_count to ${role}`);
    const url = new URL(store);
    Object.assign(url, { username: role, password: 'counts' });
    const gateways = [await startGateway(url.href), await startGateway(url.href)];
    const { keys } = await newMerchant(harness);
    const ports = gateways.map(({ port }) => port);
    for (const port of ports) await call(port, PATH, { key: keys.live });
    expect(await burst(ports, 10, withKey(keys.live))).toEqual({ 200: 10, 429: 10 });
    expect(gateways.flatMap(({ storeLogs }) => storeLogs())).toEqual([]);
  });
});

describe('a store that is unavailable', () => {
  it('because it was killed makes every gateway count by itself, with one log line, until it is back', async () => {
    const data = temporaryDataFolder();
    const start = () => startPostgres({ folder: data.folder, log: () => undefined, throwaway: true });
    let postgres = await start();
    onTestFinished(async () => {
      await postgres.stop();
      data[Symbol.dispose]();
    });
    const [one, two] = [await startGateway(postgres.url), await startGateway(postgres.url)];
    const { keys } = await newMerchant(harness);
    for (const { port } of [one, two]) await call(port, PATH, { key: keys.live });
    expect(await burst([one.port, two.port], 15, withKey(keys.live))).toEqual({ 200: 10, 429: 20 });
    expect(await readStoreUp()).toBe('1');

    await postgres.stop();
    await call(one.port, PATH, { key: keys.live });
    for (let round = 0; round < 2; round += 1) {
      expect(await burst([one.port, two.port], 15, withKey(keys.live))).toEqual({ 200: 20, 429: 10 });
    }
    expect(await readStoreUp()).toBe('0');
    for (const { storeLogs } of [one, two]) {
      expect(storeLogs().map(({ level, msg }) => [level, msg])).toEqual([
        [40, 'the rate-limit store is unavailable; counting in memory'],
      ]);
    }

    postgres = await start();
    await vi.waitFor(
      async () => {
        // Without requests: they check by themselves.
        for (const { storeLogs } of [one, two]) {
          expect(storeLogs().map(({ msg }) => msg)).toContain('the rate-limit store is available again');
        }
      },
      { timeout: 40_000, interval: 1_100 },
    );
    expect(await burst([one.port, two.port], 15, withKey(keys.live))).toEqual({ 200: 10, 429: 20 });
    expect(await readStoreUp()).toBe('1');
  });

  it('because it hangs delays one request, not every one', async () => {
    const store = new URL(await createEmptyDatabase());
    await using proxy = await startLossyProxy(Number(store.port));
    store.port = String(proxy.port);
    const { port } = await startGateway(store.href);
    const { keys } = await newMerchant(harness);
    const timed = async () => {
      const startedAt = performance.now();
      expect((await call(port, PATH, { key: keys.live })).status).toBe(200);
      return performance.now() - startedAt;
    };
    await timed();
    proxy.loseAnswersTo(/./);
    expect(await timed()).toBeGreaterThan(400);
    for (let next = 0; next < 5; next += 1) expect(await timed()).toBeLessThan(400);
    proxy.heal();
  });

  it('because its tables were dropped is initialized again', async () => {
    const store = await createEmptyDatabase();
    const [one, two] = [await startGateway(store), await startGateway(store)];
    const { keys } = await newMerchant(harness);
    const ports = [one.port, two.port];
    for (const port of ports) await call(port, PATH, { key: keys.live });
    await query(store, 'drop schema rate_limit cascade; drop table public.migration');
    for (const port of [...ports, ...ports]) {
      expect((await call(port, PATH, { key: keys.live })).status).toBe(200);
      await delay(600);
    }
    expect(await burst(ports, 15, withKey(keys.live))).toEqual({ 200: 10, 429: 20 });
  });

  it('at startup does not prevent the start: the log has the reason, and requests are limited', async () => {
    const store = new URL(await createEmptyDatabase());
    const stranger = new URL(store);
    stranger.password = 'guess';
    const { port, storeLogs } = await startGateway(stranger.href);
    expect(storeLogs()).toMatchObject([{ level: 40, err: { message: expect.stringContaining('password') } }]);
    expect(JSON.stringify(storeLogs())).not.toContain('guess');
    const { keys } = await newMerchant(harness);
    await call(port, PATH, { key: keys.live });
    expect(await burst([port], 15, withKey(keys.live))).toEqual({ 200: 10, 429: 5 });
  });
});
