import { createGateway } from '../../gateway/app.ts';
import { readConfig } from '../../services/platform/process/config.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { remoteTransport } from '../../services/platform/rpc/remote-transport.ts';
import { announcePort } from './bench-process.ts';

/** The public API in front of services in another process. */
const config = readConfig(process.env, { required: ['SERVICES_URL', 'SERVICE_TOKEN'] });
const logger = createLogger(config.LOG_LEVEL);
const transport = remoteTransport(config.SERVICES_URL, config.SERVICE_TOKEN);
await announcePort(createGateway({ environment: 'live', config, transport, logger }));
