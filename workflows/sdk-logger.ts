import { ConnectError } from '@connectrpc/connect';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import * as retryDelivery from '../services/contracts/webhooks/retry-delivery.contract.ts';
import { ProviderError } from './call-provider.ts';
import { subjectOf } from './temporal/workflow-subject.ts';

/**
 * Adapts our logger to the SDK's interface. Lines that repeat others are logged at debug level only: an activity that
 * fails permanently, because its workflow's line has the same cause, and an exhausted delivery, because services log it.
 * A call that failed is logged without its stack: every activity fails with it while the services or a provider are away.
 * A line names the record that its workflow is about. Task tokens are left out: they are long and identify nothing that operators can look up.
 */
export function sdkLogger(parent: Logger) {
  const logger = parent.child({ part: 'temporal' });
  const at =
    (level: 'trace' | 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, { error, taskToken: _, ...named }: Record<string, unknown> = {}) => {
      const meta = { ...named, ...subjectOf(named.workflowId) };
      if (error === undefined) return logger[level](meta, message);
      const isRepeated = (message === 'Activity failed' && isFinal(error)) || isExhausted(message, meta);
      const cause = isFailedCall(error) ? { reason: String(error) } : { err: error };
      return logger[isRepeated ? 'debug' : level]({ ...meta, ...cause }, message);
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

const isFailedCall = (error: unknown) => error instanceof ConnectError || error instanceof ProviderError;

/** The error has lost its type on leaving the workflow, but a retry workflow fails for no other reason. */
const isExhausted = (message: string, { workflowType }: Record<string, unknown>) =>
  message === 'Workflow failed' && workflowType === retryDelivery.workflowType;
