import { KEY_RINGS, readConfig } from '../services/platform/process/config.ts';
import { Drain } from '../services/platform/process/drain.ts';
import { yieldToRequests } from '../services/platform/process/niceness.ts';
import { createOpsServer } from '../services/platform/process/ops-server.ts';
import { runProcess } from '../services/platform/process/run-process.ts';
import { createLogger } from '../services/platform/process/telemetry.ts';
import { connectServices, openRpcTls } from '../services/platform/rpc/connect-services.ts';
import { startTracing } from '../services/platform/tracing/start-tracing.ts';
import { startWorker } from './worker.ts';

/** The worker as a separate process. The services and Temporal run elsewhere. */
await runProcess('worker', async () => {
  yieldToRequests();
  const config = readConfig(process.env, {
    required: ['SERVICES_URL', 'TEMPORAL_ADDRESS'],
    oneOf: ['SERVICE_TOKEN', 'RPC_TLS_CERT_PATH'],
    unused: ['DATABASE_URL', ...KEY_RINGS],
  });
  const logger = createLogger(config.LOG_LEVEL);
  await startTracing('worker', config, logger);
  const worker = await startWorker({
    config,
    logger,
    transport: connectServices(config, openRpcTls(config, logger)),
    temporalAddress: config.TEMPORAL_ADDRESS,
  });
  const drain = new Drain(config.STOP_DELAY);
  const ops = createOpsServer({
    drain,
    ready: async () => {
      const { temporal } = await worker.health();
      return { ok: temporal, details: { temporal: temporal ? 'up' : 'unavailable' } };
    },
  });
  await ops.listen({ host: config.HOST, port: config.OPS_PORT });
  logger.info({ ops: config.OPS_PORT }, 'the worker has started');
  return {
    close: async () => {
      await drain.begin();
      await worker.close();
      await ops.close();
    },
  };
});
