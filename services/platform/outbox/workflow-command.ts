/** The time within which a claimed command must be confirmed; otherwise it is claimed again. */
export const COMMAND_LEASE_MS = 30_000;

/** What to do in Temporal once the transaction has committed. Inputs hold ids only. */
export type WorkflowCommand = StartWorkflow | SignalWorkflow | CancelWorkflow;

/**
 * Starts a workflow, unless one with this id is running. Stays in the outbox until the workflow has completed its
 * work, and starts it again if Temporal has lost it: each run must read what is left to do, and end if nothing is.
 */
export interface StartWorkflow {
  readonly kind: 'START';
  readonly workflowId: string;
  readonly workflowType: string;
  readonly arguments: readonly [input: object];
  /**
   * Replaces earlier STARTs of the workflow, for work that is requested often before it is done. A run that has already begun may
   * miss what this transaction changes; the workflow then runs again within a minute of its end.
   */
  readonly replacesEarlier?: true;
}

/** Signals a running workflow; no effect on one that is closed. */
export interface SignalWorkflow {
  readonly kind: 'SIGNAL';
  readonly workflowId: string;
  readonly signalName: string;
  readonly arguments: readonly unknown[];
}

/** Cancels a running workflow, which is not started again; no effect on one that is closed. */
export interface CancelWorkflow {
  readonly kind: 'CANCEL';
  readonly workflowId: string;
}
