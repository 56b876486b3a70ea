import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { Transport } from '@connectrpc/connect';
import type { Logger } from 'pino';
import { createGateway } from '../gateway/app.ts';
import { GATEWAY_CALLER } from '../gateway/clients.ts';
import { createDashboard } from '../gateway/dashboard/dashboard.ts';
import { DASHBOARD_CALLER } from '../gateway/dashboard/dashboard-clients.ts';
import { migrate } from '../services/platform/database/migrate.ts';
import { type Config, ConfigError, readConfig } from '../services/platform/process/config.ts';
import { createOpsServer } from '../services/platform/process/ops-server.ts';
import { metrics } from '../services/platform/process/telemetry.ts';
import { GRANT_AREAS, STANDALONE_GRANTS } from '../services/platform/rpc/grants.ts';
import { createServices } from '../services/server.ts';
import { type PaymentsWorker, startWorker } from '../workflows/worker.ts';
import { WORKER_CALLER } from '../workflows/worker-caller.ts';
import type { DataFolder } from './data-folder.ts';
import type { GeneratedSecrets } from './generated-secrets.ts';

/** The caller of demo.json's token, who may do everything: for scripts and examples on this machine. */
export const LOCAL_CALLER = 'local';
const ALL_GRANTS = [
  ...STANDALONE_GRANTS,
  ...GRANT_AREAS.flatMap((area) => [`${area}:read`, `${area}:write`]),
];
const LOOPBACK = '127.0.0.0/8,::1/128';
const EVERY_ADDRESS = ['0.0.0.0', '::'];

/** Services, gateway, dashboard, worker and ops of one process. */
export interface LocalSystem {
  readonly liveUrl: string;
  readonly sandboxUrl: string;
  /** As people see it. */
  readonly dashboardUrl: string;
  readonly grpcUrl: string;
  readonly opsUrl: string;
  /** Starts delivery and the other workflows; resolves at once, the worker goes on getting ready. */
  startWorker(): void;
  /** To all services, as the local caller. */
  readonly transport: Transport;
}

/**
 * The settings of `npm start`: the environment's, over secrets made for the data folder, with webhooks to loopback
 * allowed in the sandbox and the demo receiver's CA trusted. Throws a ConfigError with every fault.
 */
export function localConfig(
  environment: NodeJS.ProcessEnv,
  folder: DataFolder,
  secrets: GeneratedSecrets,
  caFile: string,
) {
  const token = secrets.serviceTokens[LOCAL_CALLER]!;
  const local = `${LOCAL_CALLER}|${createHash('sha256').update(token).digest('hex')}|${ALL_GRANTS.join(' ')}`;
  const config = readConfig({
    ...secrets.keyRings,
    ...environment,
    WEBHOOK_ALLOW_CIDRS: environment.WEBHOOK_ALLOW_CIDRS ?? LOOPBACK,
    WEBHOOK_EXTRA_CA: trustFile(folder, caFile, environment.WEBHOOK_EXTRA_CA),
    SERVICE_TOKENS: [local, environment.SERVICE_TOKENS].filter(Boolean).join(';'),
  });
  const { HOST, DASHBOARD_PORT, PUBLIC_URL_DASHBOARD } = config;
  // Browsers keep a session over plain HTTP for no other name than this machine's own.
  const here = EVERY_ADDRESS.includes(HOST) ? `http://127.0.0.1:${DASHBOARD_PORT}` : undefined;
  return { ...config, PUBLIC_URL_DASHBOARD: PUBLIC_URL_DASHBOARD ?? here };
}

/** One PEM file of the demo CA and the CA that the settings name. A file that cannot be read is a ConfigError. */
function trustFile(folder: DataFolder, caFile: string, extraCa: string | undefined): string {
  if (!extraCa) return caFile;
  folder.write('certificates/trusted.pem', `${readFileSync(caFile, 'utf8')}\n${readPem(extraCa)}\n`);
  return folder.file('certificates/trusted.pem');
}

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError([`WEBHOOK_EXTRA_CA ${file} cannot be read: ${(error as Error).message}`]);
  }
}

/** What every server of the system is, whatever the types of its routes. */
interface Listener {
  listen(options: { host: string; port: number }): Promise<unknown>;
  close(): Promise<unknown>;
  readonly server: { address(): AddressInfo | string | null };
}

export interface LocalSystemOptions {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly logger: Logger;
  /** Takes what is to be closed, in reverse order. */
  readonly stack: AsyncDisposableStack;
}

/** Starts services and gateway in this process; resolves when the API answers. The worker starts when it is told to. */
export async function startLocalSystem({
  config,
  databaseUrl,
  temporalAddress,
  logger,
  stack,
}: LocalSystemOptions): Promise<LocalSystem> {
  await migrate(databaseUrl);
  const services = await createServices({ config, databaseUrl, logger });
  stack.defer(() => services.close());
  services.startMaintenance();
  let worker: Promise<PaymentsWorker> | undefined;
  stack.defer(async () => (await worker?.catch(() => undefined))?.close());
  const ops = createOpsServer({ ready: () => readiness(services, worker), metrics });
  const transport = services.transportFor(GATEWAY_CALLER);
  const gateway = { config: { ...config, DATABASE_URL: databaseUrl }, transport, logger };
  const live = createGateway({ environment: 'live', ...gateway });
  const sandbox = createGateway({ environment: 'test', ...gateway });
  const listen = async (server: Listener, port: number, publicUrl?: string) => {
    await server.listen({ host: config.HOST, port });
    stack.defer(async () => void (await server.close()));
    return publicUrl ?? `http://${config.HOST}:${(server.server.address() as AddressInfo).port}`;
  };
  const grpcUrl = await listen(services.server, config.GRPC_PORT);
  const liveUrl = await listen(live, config.LIVE_PORT);
  const sandboxUrl = await listen(sandbox, config.SANDBOX_PORT);
  const dashboard = await createDashboard({
    // It links to the guides of both environments.
    config: {
      ...config,
      PUBLIC_URL_LIVE: config.PUBLIC_URL_LIVE ?? liveUrl,
      PUBLIC_URL_SANDBOX: config.PUBLIC_URL_SANDBOX ?? sandboxUrl,
    },
    transport: services.transportFor(DASHBOARD_CALLER),
    logger,
  });
  return {
    ...{ grpcUrl, liveUrl, sandboxUrl },
    dashboardUrl: await listen(dashboard, config.DASHBOARD_PORT, config.PUBLIC_URL_DASHBOARD),
    opsUrl: await listen(ops, config.OPS_PORT),
    startWorker: () => {
      worker = startWorker({
        config,
        temporalAddress,
        logger,
        transport: services.transportFor(WORKER_CALLER),
      });
      worker.catch((error) =>
        logger.error({ err: error }, 'the worker did not start: no webhook is delivered'),
      );
    },
    transport: services.transportFor({ name: LOCAL_CALLER, grants: new Set(ALL_GRANTS) }),
  };
}

async function readiness(services: { ping(): Promise<void> }, worker: Promise<PaymentsWorker> | undefined) {
  await services.ping();
  // The API is ready whether the worker is or not.
  const started = await Promise.race([worker, Promise.resolve(undefined)]).catch(() => undefined);
  const temporal = (await started?.health())?.temporal ?? false;
  return { ok: true, details: { database: 'up', temporal: temporal ? 'up' : 'away: deliveries wait' } };
}
