import type { InjectedSinks } from '@temporalio/worker';
import type { Sinks } from '@temporalio/workflow';
import { Counter } from 'prom-client';
import { metrics } from '../../services/platform/process/telemetry.ts';

/** The sinks that workflow code calls in the worker. */
export interface FailureSinks extends Sinks {
  failures: { count(): void };
}

/** Starts at 0, so that the first failure is an increase. The SDK logs which workflow has failed, and why. */
const workflowFailures = new Counter({
  name: 'payments_workflow_failures_total',
  help: 'Workflows that have failed, without exhausted deliveries; those of an outbox command are started again.',
  registers: [metrics],
});

export const failureSinks: InjectedSinks<FailureSinks> = {
  failures: { count: { fn: () => workflowFailures.inc(), callDuringReplay: false } },
};
