import { createGateway } from '../../gateway/app.ts';
import { GATEWAY_CALLER } from '../../gateway/clients.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { createServices } from '../../services/server.ts';
import type { TestHarness } from '../support/harness.ts';
import { listenOnFreePort } from './listen.ts';

/** The live listener of another process on the same database: services, memory and limits of its own. */
export async function startOtherGateway({ config, databaseUrl }: TestHarness) {
  const logger = createLogger(config.LOG_LEVEL);
  const services = await createServices({ config, databaseUrl, logger });
  const transport = services.transportFor(GATEWAY_CALLER);
  const app = createGateway({ environment: 'live', config, transport, logger });
  return {
    port: await listenOnFreePort(app),
    async close() {
      await app.close();
      await services.close();
    },
  };
}
