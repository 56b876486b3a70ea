import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { newKeyRings } from '../../local/generated-secrets.ts';
import { findFreePort } from '../../local/ports.ts';
import { ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { remoteTransport } from '../../services/platform/rpc/remote-transport.ts';
import { ALL_SCOPES } from '../gateway/gateway-harness.ts';
import { call } from '../gateway/http-call.ts';
import { startListener } from '../gateway/listen.ts';
import { createTestDatabase, newTenant, newWrite, testConfig } from '../support/harness.ts';
import { resolverOf } from '../support/name-resolver.ts';
import { startRuntime } from '../support/runtime-process.ts';
import { newServiceToken } from '../support/secrets.ts';

const ADDRESSES = ['127.0.0.1', '127.0.0.2'];
/** Enough at once to need connections to both processes. */
const READS_AT_ONCE = 10;
const BETWEEN_READS_MS = 200;
/** How long requests may wait for a frozen process: at most 4 s pass until it is known to be frozen. */
const NOTICED_MS = 6_000;
/** Longer than the deadline of the gateway: what has not answered by then fails. */
const FROZEN_MS = 12_000;

/** A gateway in front of two services processes behind one name. */
async function startSystem() {
  const { token, entry } = newServiceToken('gateway', [
    'authenticate',
    'keys',
    'webhooks:read',
    'subscriptions',
  ]);
  const rpc = await findFreePort();
  const settings = {
    ...newKeyRings(),
    DATABASE_URL: await createTestDatabase(),
    SERVICES: 'api-keys,webhooks',
    SERVICE_TOKENS: entry,
    GRPC_PORT: `${rpc}`,
    OPS_PORT: '0',
  };
  const processes = ADDRESSES.map((HOST) => startRuntime('services/main.ts', { ...settings, HOST }));
  for (const { logged } of processes)
    await expect.poll(logged, { timeout: 60_000 }).toContain('services are listening');
  resolverOf('services.test', ADDRESSES);
  const transport = remoteTransport(`http://services.test:${rpc}`, token);
  const config = testConfig({ RATE_LIMIT_LIVE: '100000', RATE_LIMIT_ADDRESS: '100000' });
  const { port } = await startListener({ config, transport });
  const tenant = newTenant();
  const issue = { ...newWrite(tenant), name: 'Shop', scopes: [...ALL_SCOPES] };
  const { key } = await createClient(ApiKeyService, transport).issueApiKey(issue);
  return { port, key, processes: processes.map(({ child }) => child) };
}

interface Answer {
  readonly sentAtMs: number;
  readonly tookMs: number;
  readonly status: number;
}

/** Requests a list for this long, whether or not earlier requests have been answered. */
async function readFor(durationMs: number, { port, key }: { port: number; key: string }): Promise<Answer[]> {
  const startedAt = performance.now();
  const read = async (): Promise<Answer> => {
    const sentAt = performance.now();
    const { status } = await call(port, '/v1/webhook-subscriptions', { key });
    return { sentAtMs: sentAt - startedAt, tookMs: performance.now() - sentAt, status };
  };
  const answers: Promise<Answer>[] = [];
  while (performance.now() - startedAt < durationMs) {
    answers.push(...Array.from({ length: READS_AT_ONCE }, read));
    await delay(BETWEEN_READS_MS);
  }
  return Promise.all(answers);
}

test('while one of two services processes is frozen, no request fails, and after some seconds none waits', async () => {
  const system = await startSystem();
  const [first, second] = system.processes;
  await readFor(1_000, system);
  first!.kill('SIGSTOP');
  const answers = await readFor(FROZEN_MS, system);
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  expect(answers.filter(({ sentAtMs, tookMs }) => sentAtMs > NOTICED_MS && tookMs > 1_000)).toEqual([]);
  // Once it continues, it serves again.
  first!.kill('SIGCONT');
  await readFor(NOTICED_MS, system);
  second!.kill('SIGSTOP');
  const later = await readFor(NOTICED_MS, system);
  expect(later.filter(({ status }) => status !== 200)).toEqual([]);
  expect(Math.max(...later.map(({ tookMs }) => tookMs))).toBeLessThan(NOTICED_MS);
});
