import type { Transport } from '@connectrpc/connect';
import type { Logger } from 'pino';
import { WorkflowCommandService } from '../proto/gen/payments/outbox/v1/outbox_pb.js';
import { ServiceTokenService } from '../proto/gen/payments/servicetokens/v1/servicetokens_pb.js';
import { accounts } from './accounts/accounts.area.ts';
import { advances } from './advances/advances.area.ts';
import { apiKeys } from './api-keys/api-keys.area.ts';
import { catalog } from './catalog/catalog.area.ts';
import { funds } from './funds/funds.area.ts';
import { periodicTasksFor } from './periodic-tasks.ts';
import type { Area } from './platform/area.ts';
import { CrossTenantDatabase } from './platform/database/cross-tenant-database.ts';
import { Database, type DatabaseState } from './platform/database/database.ts';
import type { EnvironmentGuards } from './platform/egress/environment-guards.ts';
import { OutboxSignal } from './platform/outbox/outbox-signal.ts';
import { workflowCommandService } from './platform/outbox/workflow-command.service.ts';
import { PersonCheck } from './platform/people/person-check.ts';
import { closeWithin, WORK_TIMEOUT_MS } from './platform/process/close-within.ts';
import type { ServicesConfig } from './platform/process/config.ts';
import type { Drain } from './platform/process/drain.ts';
import { PeriodicTasks } from './platform/process/periodic-tasks.ts';
import type { TlsFiles } from './platform/process/tls-files.ts';
import { Exports } from './platform/reads/exports.ts';
import { Pagination } from './platform/reads/pagination.ts';
import type { Caller } from './platform/rpc/call-context.ts';
import { connectServices } from './platform/rpc/connect-services.ts';
import { healthService } from './platform/rpc/health.service.ts';
import { createInProcessTransport } from './platform/rpc/in-process-transport.ts';
import { rpcInterceptors } from './platform/rpc/interceptors.ts';
import { reflectionService } from './platform/rpc/reflection.service.ts';
import { createRpcServer, type RpcServer } from './platform/rpc/rpc-server.ts';
import { bindService, type ServiceBinding } from './platform/rpc/service-binding.ts';
import { serviceTokenService } from './platform/service-tokens/service-token.service.ts';
import { storedCallers } from './platform/service-tokens/stored-callers.ts';
import { Writes } from './platform/writes/writes.ts';
import { refunds } from './refunds/refunds.area.ts';
import { startWebhookLanes, type WebhookLanes } from './webhooks/lanes/webhook-lanes.ts';
import { webhooks } from './webhooks/webhooks.area.ts';

const AREAS: readonly Area[] = [refunds, catalog, funds, advances, webhooks, apiKeys, accounts];

/** The services of one process. */
export interface Services {
  /** The server of the internal port; the caller starts listening. */
  readonly server: RpcServer;
  /** A transport to all areas for a caller in this process; calls to areas served here skip serialization. */
  transportFor(caller: Caller): Transport;
  /** Starts the periodic tasks of the areas served here. They run until close. */
  startPeriodicTasks(): void;
  /**
   * Starts to deliver webhooks, until close, if SERVICES has webhook-lanes.
   * @param guards default: created from the settings.
   */
  startWebhookLanes(guards?: EnvironmentGuards): void;
  /** Resolves when the database responds; rejects when it does not within two seconds. */
  ping(): Promise<DatabaseState>;
  close(): Promise<void>;
}

export interface ServicesOptions {
  readonly config: ServicesConfig;
  readonly databaseUrl: string;
  readonly logger: Logger;
  readonly onStatement?: (sql: string) => void;
  /** Makes the port require mutual TLS, and authenticates this process to others. Default: no TLS. */
  readonly tls?: TlsFiles | undefined;
  /** Once it has begun, the port's health is NOT_SERVING. Default: when the services begin to close. */
  readonly drain?: Drain;
}

/** Opens the database and composes the areas that this process serves. */
export async function createServices(options: ServicesOptions): Promise<Services> {
  const { config, logger, tls } = options;
  const areas = AREAS.filter(({ name }) => config.SERVICES.includes(name));
  const database = await openDatabase(options, areas);
  const people = new PersonCheck(database, config.DASHBOARD_SESSION_IDLE);
  const interceptors = rpcInterceptors(logger, people);
  const outboxSignal = new OutboxSignal(database, logger);
  const pagination = new Pagination(database, config.CURSOR_KEYS);
  const stopping = new AbortController();
  const commands = { db: new CrossTenantDatabase(database), outboxSignal, stopping: stopping.signal };
  // These belong to no area: every services process serves the commands of all areas, and the tokens.
  const bindings: ServiceBinding[] = [
    bindService(WorkflowCommandService, workflowCommandService(commands)),
    bindService(ServiceTokenService, serviceTokenService(database, pagination)),
  ];
  const { SERVICES_URL } = config;
  const remote = SERVICES_URL === undefined ? undefined : connectServices({ ...config, SERVICES_URL }, tls);
  const transportFor = (caller: Caller) => createInProcessTransport(bindings, interceptors, caller, remote);
  const writes = new Writes(database, outboxSignal, people, logger);
  const shared = {
    stopping: stopping.signal,
    config,
    database,
    outboxSignal,
    logger,
    writes,
    pagination,
    exports: new Exports(database, writes),
  };
  let lanes: WebhookLanes | undefined;
  for (const area of areas) {
    const transport = transportFor({ name: area.name, grants: new Set(area.grants) });
    bindings.push(...area.bind({ ...shared, transport }));
  }
  const server = createRpcServer({
    bindings: [...bindings, ...openServices(bindings, database, stopping.signal, options)],
    interceptors,
    tokens: config.SERVICE_TOKENS,
    storedCallers: storedCallers(database, logger),
    certificates: config.RPC_TLS_CALLERS,
    tls: tls && { files: tls, logger },
    maxConcurrentCalls: config.RPC_MAX_CONCURRENT_CALLS,
  });
  const served = areas.map(({ name }) => name);
  const periodicTasks = new PeriodicTasks({ database, logger, tasks: periodicTasksFor(served, config) });
  return {
    server,
    transportFor,
    startPeriodicTasks: () => periodicTasks.start(),
    startWebhookLanes(guards) {
      if (config.SERVICES.includes('webhook-lanes')) lanes ??= startWebhookLanes(shared, guards);
    },
    ping: () => database.ping(),
    close: async () => {
      stopping.abort();
      const closed = Promise.all([server.close(), lanes?.close(), periodicTasks.close()]);
      await closeWithin(WORK_TIMEOUT_MS, closed);
      await database.close();
    },
  };
}

function openDatabase({ config, databaseUrl, logger, onStatement }: ServicesOptions, areas: readonly Area[]) {
  // Lanes change subscriptions, even in a process that does not serve that area.
  const used = config.SERVICES.includes('webhook-lanes') ? new Set([...areas, webhooks]) : areas;
  return Database.open({
    url: databaseUrl,
    poolSize: config.DATABASE_POOL_SIZE,
    preparedStatements: config.DATABASE_PREPARED_STATEMENTS,
    entities: [...used].flatMap(({ entities }) => entities),
    replicas: { urls: config.DATABASE_REPLICA_URLS, maxLagMs: config.DATABASE_REPLICA_MAX_LAG, logger },
    ...(onStatement && { onStatement }),
  });
}

/** Health and reflection. They require no grant: see requiredGrant. */
function openServices(
  bindings: readonly ServiceBinding[],
  database: Database,
  stopping: AbortSignal,
  { config, drain }: ServicesOptions,
): ServiceBinding[] {
  const databaseAnswers = () =>
    database.ping().then(
      () => true,
      () => false,
    );
  const names = bindings.map(({ service }) => service.typeName);
  const isDraining = () => drain?.hasBegun ?? false;
  const health = healthService(names, { databaseAnswers, isDraining, stopping });
  return [health, ...(config.GRPC_REFLECTION ? [reflectionService([...bindings, health])] : [])];
}
