import { readConfig } from '../../services/platform/process/config.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { createServices } from '../../services/server.ts';
import { benchDatabase } from './bench-database.ts';

/** Starts all services in this process, on a database of their own; the stack stops both. */
export async function startBenchServices(stack: AsyncDisposableStack) {
  const { DATABASE_URL: databaseUrl, ...settings } = await benchDatabase(stack);
  const services = await createServices({
    config: readConfig({ ...settings, DATABASE_URL: databaseUrl }),
    databaseUrl,
    logger: createLogger('fatal'),
  });
  stack.defer(() => services.close());
  return { services, databaseUrl };
}
