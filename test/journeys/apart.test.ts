import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { expect, test } from 'vitest';
import { findFreePort } from '../../local/ports.ts';
import { ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { readComposeFile } from '../support/compose-file.ts';
import { bearer, createTestDatabase, newKey, newTenant } from '../support/harness.ts';
import { startRuntime } from '../support/runtime-process.ts';

const STARTED = { timeout: 40_000 };

test('the containers of compose form one system: migrated, a key issued, the API responds, all stop in order', async () => {
  const { containers, env } = await readComposeFile();
  const databaseUrl = await createTestDatabase('template0');
  const [rpc, live, sandbox] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const servicesUrl = `http://127.0.0.1:${rpc}`;
  /** A container's process, with addresses of this machine instead of compose's. */
  const run = (name: string, addresses: Record<string, string | number>) => {
    const { command, environment } = containers[name]!;
    const here = {
      HOST: '127.0.0.1',
      OPS_PORT: 0,
      STOP_DELAY: '0s',
      RATE_LIMIT_STORE: 'memory',
      ...addresses,
    };
    const settings = Object.entries({ ...environment, ...here }).map(([key, value]) => [key, String(value)]);
    return startRuntime(command![1]!, Object.fromEntries(settings));
  };

  const migrate = run('migrate', { DATABASE_URL: databaseUrl });
  expect(await migrate.exited).toEqual({ exitCode: 0, stderr: '' });
  expect(migrate.logged()).toContain('applied 0001_platform.sql');
  const services = run('services', { DATABASE_URL: databaseUrl, GRPC_PORT: rpc });
  await expect.poll(services.logged, STARTED).toContain('services are listening');
  const gateway = run('gateway', { SERVICES_URL: servicesUrl, LIVE_PORT: live, SANDBOX_PORT: sandbox });
  await expect.poll(gateway.logged, STARTED).toContain('the public API is listening');

  const transport = createConnectTransport({
    baseUrl: servicesUrl,
    httpVersion: '1.1',
    interceptors: [bearer(env.OPERATOR_TOKEN!)],
  });
  const { key } = await createClient(ApiKeyService, transport).issueApiKey({
    ...newTenant(),
    idempotencyKey: newKey(),
    name: 'Shop',
    scopes: [ApiKeyScope.REFUNDS_READ],
  });
  const answer = await fetch(`http://127.0.0.1:${live}/v1/refund-cases`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect([answer.status, await answer.json()]).toEqual([200, { data: [], hasMore: false, nextCursor: null }]);
  const refusal = await fetch(`http://127.0.0.1:${live}/v1/refund-cases`);
  expect(await refusal.json()).toMatchObject({
    type: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8080\//),
  });

  for (const { child, exited } of [gateway, services]) {
    child.kill('SIGTERM');
    expect(await exited).toEqual({ exitCode: 0, stderr: '' });
  }
});
