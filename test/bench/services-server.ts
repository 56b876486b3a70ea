import { createGateway } from '../../gateway/app.ts';
import { GATEWAY_CALLER } from '../../gateway/clients.ts';
import { readConfig } from '../../services/platform/process/config.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { startTracing } from '../../services/platform/tracing/start-tracing.ts';
import { stopTracing } from '../../services/platform/tracing/tracing.ts';
import { createServices } from '../../services/server.ts';
import { announcePort, answerCpuUsage, START_TRACING, STOP_TRACING } from './bench-process.ts';

/** Gateway and services in one process as `npm start` composes them: logging, keys and rate limits on. */
const config = readConfig(process.env, { required: ['DATABASE_URL'] });
const logger = createLogger(config.LOG_LEVEL);
await startTracing('all', config, logger);
const services = await createServices({ config, databaseUrl: config.DATABASE_URL, logger });
const transport = services.transportFor(GATEWAY_CALLER);
await announcePort(createGateway({ environment: 'live', config, transport, logger }));
answerCpuUsage();
// Services and gateways check once whether traces are recorded, so recording begins before they are created.
process.on('message', async (message) => {
  if (message === START_TRACING) await startTracing('all', config, logger);
  else if (message === STOP_TRACING) await stopTracing();
  else return;
  process.send?.(message);
});
