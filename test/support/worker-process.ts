// Run as a program: the worker as workflows/main.ts starts it, except that WORKFLOW_BUNDLE may name a file with the bundled
// workflow code, which takes seconds to bundle.
import { KEY_RINGS, readConfig } from '../../services/platform/process/config.ts';
import { runProcess } from '../../services/platform/process/run-process.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { remoteTransport } from '../../services/platform/rpc/remote-transport.ts';
import { startTracing } from '../../services/platform/tracing/start-tracing.ts';
import { startWorker } from '../../workflows/worker.ts';

await runProcess('the worker', async () => {
  const config = readConfig(process.env, {
    required: ['SERVICES_URL', 'SERVICE_TOKEN', 'TEMPORAL_ADDRESS'],
    unused: ['DATABASE_URL', ...KEY_RINGS],
  });
  const logger = createLogger(config.LOG_LEVEL);
  await startTracing('worker', config, logger);
  const { WORKFLOW_BUNDLE: codePath } = process.env;
  return startWorker({
    config,
    logger,
    transport: remoteTransport(config.SERVICES_URL, config.SERVICE_TOKEN),
    temporalAddress: config.TEMPORAL_ADDRESS,
    workflowBundle: codePath ? { codePath } : undefined,
  });
});
