import { createClient } from '@connectrpc/connect';
import type { Logger } from 'pino';
import { Health, HealthCheckResponse_ServingStatus as Status } from '../proto/gen/health/v1/health_pb.js';
import {
  type Config,
  ConfigError,
  KEY_RINGS,
  readConfig,
  TEMPORAL_SECURITY,
} from '../services/platform/process/config.ts';
import { Drain } from '../services/platform/process/drain.ts';
import { createOpsServer } from '../services/platform/process/ops-server.ts';
import { runProcess } from '../services/platform/process/run-process.ts';
import { createLogger } from '../services/platform/process/telemetry.ts';
import type { TlsFiles } from '../services/platform/process/tls-files.ts';
import {
  connectDashboardServices,
  connectServices,
  openRpcTls,
  type RpcTlsConfig,
} from '../services/platform/rpc/connect-services.ts';
import { DATABASE } from '../services/platform/rpc/health.service.ts';
import { startTracing } from '../services/platform/tracing/start-tracing.ts';
import { createGateway } from './app.ts';
import { createDashboard, type Dashboard } from './dashboard/dashboard.ts';
import { signInFaults } from './dashboard/session/secure-address.ts';
import type { DashboardConfig } from './dashboard/shell/dependencies.ts';
import { listenAlone } from './plugins/listening.ts';

const HEALTH_DEADLINE_MS = 2_000;

/** Runs the public API and the dashboard in front of services that run in other processes. */
await runProcess('gateway', async () => {
  const config = readConfig(process.env, {
    required: ['SERVICES_URL'],
    oneOf: ['SERVICE_TOKEN', 'RPC_TLS_CERT_PATH'],
    unused: [...KEY_RINGS, ...TEMPORAL_SECURITY],
  });
  const logger = createLogger(config.LOG_LEVEL);
  await startTracing('gateway', config, logger);
  const tls = openRpcTls(config, logger);
  const transport = connectServices(config, tls);
  const health = createClient(Health, transport);
  const live = createGateway({ environment: 'live', config, transport, logger });
  const sandbox = createGateway({ environment: 'test', config, transport, logger });
  const drain = new Drain(config.STOP_DELAY);
  const ops = createOpsServer({
    drain,
    ready: async () => {
      // Services that are stopping answer calls until the load balancer sends them to others.
      const { status } = await health.check({ service: DATABASE }, { timeoutMs: HEALTH_DEADLINE_MS });
      return { ok: status === Status.SERVING, details: { services: Status[status] } };
    },
  });
  await listenAlone(live, { host: config.HOST, port: config.LIVE_PORT });
  await listenAlone(sandbox, { host: config.HOST, port: config.SANDBOX_PORT });
  const dashboard = await openDashboard(config, tls, logger);
  for (const app of [live, sandbox, dashboard]) if (app) drain.endConnectionsOf(app.server);
  await ops.listen({ host: config.HOST, port: config.OPS_PORT });
  const { LIVE_PORT, SANDBOX_PORT, OPS_PORT } = config;
  logger.info({ live: LIVE_PORT, sandbox: SANDBOX_PORT, ops: OPS_PORT }, 'the public API is listening');
  return {
    close: async () => {
      await drain.begin();
      await Promise.all([live.close(), sandbox.close(), dashboard?.close()]);
      await ops.close();
    },
  };
});

type DashboardSettings = DashboardConfig &
  RpcTlsConfig &
  Pick<Config, 'DASHBOARD_PORT' | 'DASHBOARD_SERVICE_TOKEN'> & { readonly SERVICES_URL: string };

/** Starts the dashboard if it has a service token or a certificate, and an OpenID provider. */
async function openDashboard(
  config: DashboardSettings,
  tls: TlsFiles | undefined,
  logger: Logger,
): Promise<Dashboard | undefined> {
  const { OIDC_ISSUER, HOST, DASHBOARD_PORT } = config;
  const transport = OIDC_ISSUER ? connectDashboardServices(config, tls, logger) : undefined;
  if (transport === undefined) {
    logger.info(
      'the dashboard is disabled: set OIDC_ISSUER, and DASHBOARD_SERVICE_TOKEN or DASHBOARD_RPC_TLS_CERT_PATH, to enable it',
    );
    return undefined;
  }
  const faults = signInFaults(config);
  if (faults.length > 0) throw new ConfigError(faults);
  const dashboard = await createDashboard({ config, transport, logger });
  await dashboard.listen({ host: HOST, port: DASHBOARD_PORT });
  logger.info({ dashboard: DASHBOARD_PORT }, 'the dashboard is listening');
  return dashboard;
}
