import { makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

/**
 * Lets the SDK log by our logger and leave signals to us. To be called before each connection: with its last
 * connection the SDK drops its runtime, and would make the next one with settings of its own.
 */
export function installRuntime(logger: Logger): void {
  if (Runtime._instance) return;
  Runtime.install({
    logger: sdkLogger(logger),
    shutdownSignals: [],
    telemetryOptions: {
      // A server that is away is our own warning, said once.
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) },
    },
  });
}

/** Our logger as the SDK calls it. */
export function sdkLogger(parent: Logger) {
  const logger = parent.child({ part: 'temporal' });
  const at =
    (level: 'trace' | 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, meta?: Record<string, unknown>) =>
      logger[level](meta ?? {}, message);
  const levels = {
    TRACE: at('trace'),
    DEBUG: at('debug'),
    INFO: at('info'),
    WARN: at('warn'),
    ERROR: at('error'),
  };
  return {
    log: (level: keyof typeof levels, message: string, meta?: Record<string, unknown>) =>
      levels[level](message, meta),
    trace: levels.TRACE,
    debug: levels.DEBUG,
    info: levels.INFO,
    warn: levels.WARN,
    error: levels.ERROR,
  };
}
