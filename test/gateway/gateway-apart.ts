import { createClient } from '@connectrpc/connect';
import { expect, onTestFinished } from 'vitest';
import { newKeyRings } from '../../local/generated-secrets.ts';
import { findFreePort } from '../../local/ports.ts';
import { startPostgres } from '../../local/postgres/postgres-server.ts';
import { ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { remoteTransport } from '../../services/platform/rpc/remote-transport.ts';
import { temporaryDataFolder } from '../local/temporary-data-folder.ts';
import { newTenant, newWrite } from '../support/harness.ts';
import { startRuntime } from '../support/runtime-process.ts';
import { newServiceToken } from '../support/secrets.ts';
import { ALL_SCOPES } from './gateway-harness.ts';
import { call } from './http-call.ts';
import { startListener } from './listen.ts';

const GRANTS = ['authenticate', 'keys', 'catalog:read', 'webhooks:read', 'subscriptions'];

/** The live listener in front of a services process with its own PostgreSQL, and a key that it has just accepted. */
export async function startGatewayApart() {
  const data = temporaryDataFolder();
  onTestFinished(() => data[Symbol.dispose]());
  const postgres = await startPostgres({ folder: data.folder, log: () => undefined, throwaway: true });
  onTestFinished(() => postgres.stop());
  const { token, entry } = newServiceToken('gateway', GRANTS);
  const rpc = await findFreePort();
  const services = startRuntime('services/main.ts', {
    HOST: '127.0.0.1',
    OPS_PORT: '0',
    GRPC_PORT: `${rpc}`,
    DATABASE_URL: postgres.url,
    ...newKeyRings(),
    SERVICE_TOKENS: entry,
  });
  await expect.poll(services.logged, { timeout: 40_000 }).toContain('services are listening');
  const transport = remoteTransport(`http://127.0.0.1:${rpc}`, token);
  const { port } = await startListener({ transport });
  const { key } = await createClient(ApiKeyService, transport).issueApiKey({
    ...newWrite(newTenant()),
    name: 'Shop',
    scopes: [...ALL_SCOPES],
  });
  expect((await call(port, '/v1/webhook-subscriptions', { key })).status).toBe(200);
  return {
    port,
    key,
    stopPostgres: () => postgres.stop(),
    killServices: services.kill,
  };
}
