import { ApplicationFailure } from '@temporalio/common';
import { makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

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

/**
 * Adapts our logger to the SDK's interface. An activity that fails for good is a line at debug only: its workflow's line
 * names the same cause.
 */
export function sdkLogger(parent: Logger) {
  const logger = parent.child({ part: 'temporal' });
  const at =
    (level: 'trace' | 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, { error, ...meta }: Record<string, unknown> = {}) => {
      if (error === undefined) return logger[level](meta, message);
      const isRepeated = message === 'Activity failed' && isFinal(error);
      return logger[isRepeated ? 'debug' : level]({ ...meta, err: error }, message);
    };
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

const isFinal = (error: unknown) => error instanceof ApplicationFailure && error.nonRetryable === true;
