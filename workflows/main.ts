import { KEY_RINGS, readConfig } from '../services/platform/config.ts';
import { remoteTransport } from '../services/platform/remote-transport.ts';
import { runProcess } from '../services/platform/run-process.ts';
import { createLogger } from '../services/platform/telemetry.ts';
import { startWorker } from './worker.ts';

/** The worker as a process of its own, beside services and a Temporal that run elsewhere. */
await runProcess('worker', async () => {
  const config = readConfig(process.env, {
    required: ['SERVICES_URL', 'SERVICE_TOKEN', 'TEMPORAL_ADDRESS'],
    unused: ['DATABASE_URL', ...KEY_RINGS],
  });
  return startWorker({
    config,
    logger: createLogger(config.LOG_LEVEL),
    transport: remoteTransport(config.SERVICES_URL, config.SERVICE_TOKEN),
    temporalAddress: config.TEMPORAL_ADDRESS,
  });
});
