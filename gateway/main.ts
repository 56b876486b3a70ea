import { createClient } from '@connectrpc/connect';
import { Health, HealthCheckResponse_ServingStatus as Status } from '../proto/gen/health/v1/health_pb.js';
import { KEY_RINGS, readConfig } from '../services/platform/config.ts';
import { createOpsServer } from '../services/platform/ops-server.ts';
import { remoteTransport } from '../services/platform/remote-transport.ts';
import { runProcess } from '../services/platform/run-process.ts';
import { createLogger, metrics } from '../services/platform/telemetry.ts';
import { createGateway } from './app.ts';

const HEALTH_DEADLINE_MS = 2_000;

/** The public API of both environments as a process of its own, in front of services in other processes. */
await runProcess('gateway', async () => {
  const config = readConfig(process.env, {
    required: ['SERVICES_URL', 'SERVICE_TOKEN'],
    unused: KEY_RINGS,
  });
  const logger = createLogger(config.LOG_LEVEL);
  const transport = remoteTransport(config.SERVICES_URL, config.SERVICE_TOKEN);
  const health = createClient(Health, transport);
  const live = createGateway({ environment: 'live', config, transport, logger });
  const sandbox = createGateway({ environment: 'test', config, transport, logger });
  const ops = createOpsServer({
    ready: async () => {
      const { status } = await health.check({ service: '' }, { timeoutMs: HEALTH_DEADLINE_MS });
      return { ok: status === Status.SERVING, details: { services: Status[status] } };
    },
    metrics,
  });
  await live.listen({ host: config.HOST, port: config.LIVE_PORT });
  await sandbox.listen({ host: config.HOST, port: config.SANDBOX_PORT });
  await ops.listen({ host: config.HOST, port: config.OPS_PORT });
  const { LIVE_PORT, SANDBOX_PORT, OPS_PORT } = config;
  logger.info({ live: LIVE_PORT, sandbox: SANDBOX_PORT, ops: OPS_PORT }, 'the public API is listening');
  return {
    close: async () => {
      await Promise.all([live.close(), sandbox.close()]);
      await ops.close();
    },
  };
});
