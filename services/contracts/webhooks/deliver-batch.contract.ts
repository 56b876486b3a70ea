export const workflowType = 'deliverBatch';

export const workflowId = (batchId: string) => `batch-${batchId}`;

export interface DeliverBatchInput {
  readonly batchId: string;
  readonly deliveryIds: readonly string[];
  /** Attempts have begun in the process that claimed them. */
  readonly haveBegun?: boolean;
}

/** How many deliveries of the batch came to what. */
export interface DeliverBatchResult {
  readonly succeeded: number;
  /** Failed, or still under way when the batch ended: each goes on in a retry workflow. */
  readonly goingOn: number;
  /** Nothing was sent, or nothing more is to be. */
  readonly left: number;
}
