import { readConfig } from './platform/config.ts';
import { migrate } from './platform/migrate.ts';
import { runProcess } from './platform/run-process.ts';
import { createLogger } from './platform/telemetry.ts';
import { createServices } from './server.ts';

/** The internal services as a process of their own: the areas of SERVICES on GRPC_PORT, migrations first. */
await runProcess('services', async () => {
  const config = readConfig(process.env, { required: ['DATABASE_URL'] });
  const logger = createLogger(config.LOG_LEVEL);
  const applied = await migrate(config.DATABASE_URL);
  const services = await createServices({ config, databaseUrl: config.DATABASE_URL, logger });
  await services.server.listen({ host: config.HOST, port: config.GRPC_PORT });
  logger.info({ areas: config.SERVICES, port: config.GRPC_PORT, applied }, 'services are listening');
  return services;
});
