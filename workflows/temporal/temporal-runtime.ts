import { makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import { sdkLogger } from '../sdk-logger.ts';

/**
 * Makes the SDK use our logger and leave process signals to us. Call it before each connection: the SDK drops its
 * runtime with its last connection, and would create the next one with default settings.
 */
export function installRuntime(logger: Logger): void {
  if (Runtime._instance) return;
  Runtime.install({
    logger: sdkLogger(logger),
    shutdownSignals: [],
    telemetryOptions: {
      // The worker logs an unavailable server itself, once.
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) },
    },
  });
}
