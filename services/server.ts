import type { Transport } from '@connectrpc/connect';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { WorkflowCommandService } from '../proto/gen/payments/outbox/v1/outbox_pb.js';
import { accounts } from './accounts/accounts.area.ts';
import { advances } from './advances/advances.area.ts';
import { apiKeys } from './api-keys/api-keys.area.ts';
import { catalog } from './catalog/catalog.area.ts';
import { funds } from './funds/funds.area.ts';
import { periodicTasksFor } from './periodic-tasks.ts';
import type { Area } from './platform/area.ts';
import { CrossTenantDatabase } from './platform/database/cross-tenant-database.ts';
import { Database } from './platform/database/database.ts';
import { OutboxSignal } from './platform/outbox/outbox-signal.ts';
import { WorkSignal } from './platform/outbox/work-signal.ts';
import { workflowCommandService } from './platform/outbox/workflow-command.service.ts';
import type { Config } from './platform/process/config.ts';
import { PeriodicTasks } from './platform/process/periodic-tasks.ts';
import { Pagination } from './platform/reads/pagination.ts';
import type { Caller } from './platform/rpc/call-context.ts';
import { healthService } from './platform/rpc/health.service.ts';
import { createInProcessTransport } from './platform/rpc/in-process-transport.ts';
import { rpcInterceptors } from './platform/rpc/interceptors.ts';
import { reflectionService } from './platform/rpc/reflection.service.ts';
import { remoteTransport } from './platform/rpc/remote-transport.ts';
import { createRpcServer } from './platform/rpc/rpc-server.ts';
import { bindService, type ServiceBinding } from './platform/rpc/service-binding.ts';
import { Writes } from './platform/writes/writes.ts';
import { refunds } from './refunds/refunds.area.ts';
import { webhooks } from './webhooks/webhooks.area.ts';

const AREAS: readonly Area[] = [refunds, catalog, funds, advances, webhooks, apiKeys, accounts];

/** The services of one process. */
export interface Services {
  /** The server of the internal port; the caller starts listening. */
  readonly server: FastifyInstance;
  /** A transport to all areas for a caller in this process; calls to areas served here skip serialisation. */
  transportFor(caller: Caller): Transport;
  /** Starts the periodic tasks of the areas served here. They run until close. */
  startPeriodicTasks(): void;
  /** Resolves when the database responds. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface ServicesOptions {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly logger: Logger;
  readonly onStatement?: (sql: string) => void;
}

/** Opens the database and composes the areas that this process serves. */
export async function createServices({
  config,
  databaseUrl,
  logger,
  onStatement,
}: ServicesOptions): Promise<Services> {
  const areas = AREAS.filter(({ name }) => config.SERVICES.includes(name));
  const database = await Database.open({
    url: databaseUrl,
    poolSize: config.DATABASE_POOL_SIZE,
    preparedStatements: config.DATABASE_PREPARED_STATEMENTS,
    entities: areas.flatMap(({ entities }) => entities),
    ...(onStatement && { onStatement }),
  });
  const interceptors = rpcInterceptors(logger);
  const outboxSignal = new OutboxSignal(database);
  const workSignal = new WorkSignal({ database, outboxSignal, logger });
  const db = new CrossTenantDatabase(database);
  // All areas write commands to one table, so every services process can serve them to the worker.
  const bindings: ServiceBinding[] = [
    bindService(WorkflowCommandService, workflowCommandService({ db, workSignal })),
  ];
  const remote = config.SERVICES_URL
    ? remoteTransport(config.SERVICES_URL, config.SERVICE_TOKEN ?? '')
    : undefined;
  const transportFor = (caller: Caller) => createInProcessTransport(bindings, interceptors, caller, remote);
  const shared = {
    config,
    database,
    outboxSignal,
    workSignal,
    logger,
    writes: new Writes(database, outboxSignal),
    pagination: new Pagination(config.CURSOR_KEYS),
  };
  for (const area of areas) {
    const transport = transportFor({ name: area.name, grants: new Set(area.grants) });
    bindings.push(...area.bind({ ...shared, transport }));
  }
  const names = bindings.map(({ service }) => service.typeName);
  const isHealthy = () =>
    database.ping().then(
      () => true,
      () => false,
    );
  const health = healthService(names, isHealthy);
  // They require no grant: see requiredGrant.
  const openServices = [
    health,
    ...(config.GRPC_REFLECTION ? [reflectionService([...bindings, health])] : []),
  ];
  const server = createRpcServer({
    bindings: [...bindings, ...openServices],
    interceptors,
    tokens: config.SERVICE_TOKENS,
  });
  const periodicTasks = new PeriodicTasks({
    database,
    logger,
    tasks: periodicTasksFor(areas.map(({ name }) => name)),
  });
  return {
    server,
    transportFor,
    startPeriodicTasks: () => periodicTasks.start(),
    ping: () => database.ping(),
    close: async () => {
      await server.close();
      await periodicTasks.close();
      await database.close();
    },
  };
}
