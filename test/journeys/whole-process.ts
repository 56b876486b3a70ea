// Run as a program: all services and the worker in one process, to be killed.
import { readConfig } from '../../services/platform/process/config.ts';
import { createOpsServer } from '../../services/platform/process/ops-server.ts';
import { runProcess } from '../../services/platform/process/run-process.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { createServices } from '../../services/server.ts';
import { startWorker } from '../../workflows/worker.ts';
import { WORKER_CALLER } from '../../workflows/worker-caller.ts';

await runProcess('the whole', async () => {
  const config = readConfig(process.env, { required: ['DATABASE_URL', 'TEMPORAL_ADDRESS'] });
  const logger = createLogger(config.LOG_LEVEL);
  const services = await createServices({ config, databaseUrl: config.DATABASE_URL, logger });
  const transport = services.transportFor(WORKER_CALLER);
  const worker = await startWorker({
    config,
    logger,
    transport,
    temporalAddress: config.TEMPORAL_ADDRESS,
  });
  await services.server.listen({ host: config.HOST, port: config.GRPC_PORT });
  services.startPeriodicTasks();
  services.startWebhookLanes();
  const ops = createOpsServer({ ready: async () => ({ ok: true, details: {} }) });
  // Only tests that read the metrics set a port.
  if (process.env.OPS_PORT) await ops.listen({ host: config.HOST, port: config.OPS_PORT });
  logger.info('the whole process is listening');
  return {
    async close() {
      await ops.close();
      await worker.close();
      await services.close();
    },
  };
});
