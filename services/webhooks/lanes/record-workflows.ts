import * as recordDeliveries from '../../contracts/webhooks/record-deliveries.contract.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';

/** The least period of a workflow, since its id names the second in which it begins. */
const MIN_MS = 1_000;

interface RecordWorkflow {
  readonly id: string;
  readonly sinceMs: number;
  deliveries: number;
}

/**
 * Names the workflows that show in Temporal what this process has delivered without a retry workflow. A workflow costs as much
 * as several deliveries, so each shows those of five seconds, or fewer if more could not be found by search or would not
 * fit into one result.
 * @returns a function that returns the id of the workflow for a delivery that has just succeeded.
 */
export function nameRecordWorkflows(ownerId: string): (environment: EnvironmentName) => string {
  const current = new Map<EnvironmentName, RecordWorkflow>();
  return (environment) => {
    const nowMs = performance.now();
    let workflow = current.get(environment);
    if (!workflow || isComplete(workflow, nowMs)) {
      const id = recordDeliveries.workflowId(new Date(), environment, ownerId);
      workflow = { id, sinceMs: nowMs, deliveries: 0 };
      current.set(environment, workflow);
    }
    workflow.deliveries += 1;
    return workflow.id;
  };
}

function isComplete({ sinceMs, deliveries }: RecordWorkflow, nowMs: number): boolean {
  const ageMs = nowMs - sinceMs;
  if (ageMs < MIN_MS) return false;
  const { PERIOD_MS, MAX_SEARCHABLE, MAX_RECORDS } = recordDeliveries;
  return ageMs >= PERIOD_MS || deliveries === MAX_SEARCHABLE || deliveries >= MAX_RECORDS / 2;
}
