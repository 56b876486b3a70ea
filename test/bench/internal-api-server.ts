import { readConfig } from '../../services/platform/process/config.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { createServices } from '../../services/server.ts';
import { announcePort, answerCpuUsage } from './bench-process.ts';

/** The internal port with the areas in SERVICES; nothing is delivered. */
const config = readConfig(process.env, { required: ['DATABASE_URL'] });
const logger = createLogger(config.LOG_LEVEL);
const services = await createServices({ config, databaseUrl: config.DATABASE_URL, logger });
answerCpuUsage();
await announcePort(services.server);
