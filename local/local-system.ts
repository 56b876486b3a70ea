import type { AddressInfo } from 'node:net';
import type { Transport } from '@connectrpc/connect';
import type { Logger } from 'pino';
import { createGateway } from '../gateway/app.ts';
import { GATEWAY_CALLER } from '../gateway/clients.ts';
import { createDashboard } from '../gateway/dashboard/dashboard.ts';
import { DASHBOARD_CALLER } from '../gateway/dashboard/dashboard-caller.ts';
import { LISTEN_OPTIONS } from '../gateway/plugins/listening.ts';
import { migrate } from '../services/platform/database/migrate.ts';
import type { Config } from '../services/platform/process/config.ts';
import { listeningUrl } from '../services/platform/process/listening-url.ts';
import { createOpsServer } from '../services/platform/process/ops-server.ts';
import { createServices } from '../services/server.ts';
import { type PaymentsWorker, startWorker } from '../workflows/worker.ts';
import { WORKER_CALLER } from '../workflows/worker-caller.ts';
import { LOCAL_CALLER } from './local-config.ts';
import { temporalReadiness } from './temporal/temporal-readiness.ts';
import type { TemporalServer } from './temporal/temporal-server.ts';

/** Services, gateway, dashboard, worker and operations listener in one process. */
export interface LocalSystem {
  readonly liveUrl: string;
  readonly sandboxUrl: string;
  /** The address that browsers use. */
  readonly dashboardUrl: string;
  readonly grpcUrl: string;
  readonly opsUrl: string;
  /** Starts delivery and the other workflows in the background. */
  startWorker(): void;
  /** Calls all services in process, with every grant. */
  readonly transport: Transport;
}

export interface LocalSystemOptions {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly temporal: TemporalServer;
  readonly logger: Logger;
  /** Collects the resources to close. */
  readonly stack: AsyncDisposableStack;
}

/** The servers of the system, whatever the types of their routes. */
interface Listener {
  listen(options: { host: string; port: number }): Promise<unknown>;
  close(): Promise<unknown>;
  readonly server: { address(): AddressInfo | string | null };
}

/** Migrates the database and starts every listener; resolves when the API answers. `startWorker` starts the worker. */
export async function startLocalSystem(options: LocalSystemOptions): Promise<LocalSystem> {
  const { config, databaseUrl, temporal, logger, stack } = options;
  await migrate(databaseUrl);
  const services = await createServices({ config, databaseUrl, logger });
  stack.defer(() => services.close());
  services.startPeriodicTasks();
  services.startWebhookLanes();
  let worker: Promise<PaymentsWorker> | undefined;
  stack.defer(async () => (await worker?.catch(() => undefined))?.close());
  const ready = async () => {
    const database = await services.ping();
    return temporalReadiness(database, await isConnected(worker), temporal.status);
  };
  const ops = createOpsServer({ ready });
  const transport = services.transportFor(GATEWAY_CALLER);
  // The guides of each environment link the other, which is not listening yet.
  const urlOf = (port: number) => (port === 0 ? undefined : listeningUrl(config.HOST, port));
  const publicConfig = {
    ...config,
    PUBLIC_URL_LIVE: config.PUBLIC_URL_LIVE ?? urlOf(config.LIVE_PORT),
    PUBLIC_URL_SANDBOX: config.PUBLIC_URL_SANDBOX ?? urlOf(config.SANDBOX_PORT),
  };
  const gateway = { config: { ...publicConfig, DATABASE_URL: databaseUrl }, transport, logger };
  const live = createGateway({ environment: 'live', ...gateway });
  const sandbox = createGateway({ environment: 'test', ...gateway });
  const listen = async (server: Listener, port: number, publicUrl?: string, options = {}) => {
    await server.listen({ ...options, host: config.HOST, port });
    stack.defer(async () => void (await server.close()));
    return publicUrl ?? listeningUrl(config.HOST, (server.server.address() as AddressInfo).port);
  };
  const grpcUrl = await listen(services.server, config.GRPC_PORT);
  const liveUrl = await listen(live, config.LIVE_PORT, undefined, LISTEN_OPTIONS);
  const sandboxUrl = await listen(sandbox, config.SANDBOX_PORT, undefined, LISTEN_OPTIONS);
  const dashboard = await createDashboard({
    // Its pages link to the guides of both environments.
    config: {
      ...config,
      PUBLIC_URL_LIVE: config.PUBLIC_URL_LIVE ?? liveUrl,
      PUBLIC_URL_SANDBOX: config.PUBLIC_URL_SANDBOX ?? sandboxUrl,
    },
    transport: services.transportFor(DASHBOARD_CALLER),
    logger,
  });
  return {
    grpcUrl,
    liveUrl,
    sandboxUrl,
    dashboardUrl: await listen(dashboard, config.DASHBOARD_PORT, config.PUBLIC_URL_DASHBOARD),
    opsUrl: await listen(ops, config.OPS_PORT),
    startWorker() {
      worker = startWorker({
        config,
        temporalAddress: temporal.address,
        logger,
        transport: services.transportFor(WORKER_CALLER),
      });
      worker.catch((error) =>
        logger.error({ err: error }, 'worker failed to start: webhooks are not delivered'),
      );
    },
    transport: services.transportFor(LOCAL_CALLER),
  };
}

/** Whether the worker has started and reaches Temporal. */
async function isConnected(worker: Promise<PaymentsWorker> | undefined): Promise<boolean> {
  const started = await Promise.race([worker, Promise.resolve(undefined)]).catch(() => undefined);
  return (await started?.health())?.temporal ?? false;
}
