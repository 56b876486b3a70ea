import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { createGateway } from '../../gateway/app.ts';
import { findFreePort } from '../../local/ports.ts';
import { startPostgres } from '../../local/postgres.ts';
import { newApiKey } from '../../services/platform/api-key-format.ts';
import { remoteTransport } from '../../services/platform/remote-transport.ts';
import { createLogger } from '../../services/platform/telemetry.ts';
import { temporaryDataFolder } from '../local/temporary-data-folder.ts';
import { testConfig } from '../support/house.ts';
import { startRuntime } from '../support/runtime-process.ts';
import { call } from './http-call.ts';

/** The live listener in front of a services process with a PostgreSQL of its own; it has refused a key, so all of it works. */
export async function startGatewayApart() {
  const data = temporaryDataFolder();
  onTestFinished(() => data[Symbol.dispose]());
  const postgres = await startPostgres({ folder: data.folder, log: () => undefined, throwaway: true });
  onTestFinished(() => postgres.stop());
  const rpc = await findFreePort();
  const secret = () => `v1:${Buffer.from(randomUUID().replaceAll('-', '')).toString('base64')}`;
  const services = startRuntime('services/main.ts', {
    ...{ HOST: '127.0.0.1', OPS_PORT: '0', GRPC_PORT: `${rpc}`, DATABASE_URL: postgres.url },
    ...{ API_KEY_PEPPERS: secret(), WEBHOOK_SECRET_KEYS: secret(), CURSOR_KEYS: secret() },
    // The SHA-256 of "token".
    SERVICE_TOKENS:
      'gateway|3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0|authenticate catalog:read',
  });
  await expect.poll(services.logged, { timeout: 20_000 }).toContain('services are listening');
  const transport = remoteTransport(`http://127.0.0.1:${rpc}`, 'token');
  const app = createGateway({
    ...{ environment: 'live', config: testConfig(), transport, logger: createLogger('silent') },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  expect((await call(port, '/v1/refund-cases', { key: newApiKey('live') })).status).toBe(401);
  return {
    port,
    stopPostgres: () => postgres.stop(),
    async killServices() {
      services.child.kill('SIGKILL');
      await services.exited;
    },
  };
}
