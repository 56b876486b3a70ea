import { migrateOnceReachable } from './platform/database/migrate.ts';
import { readConfig, TEMPORAL_SECURITY } from './platform/process/config.ts';
import { Drain } from './platform/process/drain.ts';
import { createOpsServer } from './platform/process/ops-server.ts';
import { runProcess } from './platform/process/run-process.ts';
import { createLogger } from './platform/process/telemetry.ts';
import { openRpcTls } from './platform/rpc/connect-services.ts';
import { startTracing } from './platform/tracing/start-tracing.ts';
import { createServices } from './server.ts';

/** Runs the internal services: waits for PostgreSQL, applies migrations, then serves the areas in SERVICES on GRPC_PORT. */
await runProcess('services', async () => {
  const config = readConfig(process.env, { required: ['DATABASE_URL'], unused: TEMPORAL_SECURITY });
  const { DATABASE_URL, GRPC_PORT, HOST, OPS_PORT, SERVICES } = config;
  const logger = createLogger(config.LOG_LEVEL);
  await startTracing('services', config, logger);
  const tls = openRpcTls(config, logger);
  const drain = new Drain(config.STOP_DELAY);
  const services = await createServices({ config, databaseUrl: DATABASE_URL, logger, tls, drain });
  let isListening = false;
  // A database that only reads still answers most calls.
  const ready = () =>
    services.ping().then((database) => ({ ok: isListening, details: { database, areas: SERVICES } }));
  const ops = createOpsServer({ ready, drain });
  drain.endConnectionsOf(services.server.server);
  await ops.listen({ host: HOST, port: OPS_PORT });
  const applied = await migrateOnceReachable(DATABASE_URL, logger);
  await services.server.listen({ host: HOST, port: GRPC_PORT });
  isListening = true;
  services.startPeriodicTasks();
  services.startWebhookLanes();
  logger.info({ areas: SERVICES, rpc: GRPC_PORT, ops: OPS_PORT, applied }, 'services are listening');
  return {
    close: async () => {
      await drain.begin();
      await services.close();
      await ops.close();
    },
  };
});
