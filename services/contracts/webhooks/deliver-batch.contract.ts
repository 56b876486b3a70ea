export const workflowType = 'deliverBatch';

export const workflowId = (batchId: string) => `batch-${batchId}`;

export interface DeliverBatchInput {
  readonly batchId: string;
  readonly deliveryIds: readonly string[];
  /** The process that claimed them has started attempts. */
  readonly startedEagerly: boolean;
}

/** The number of deliveries of the batch by outcome. */
export interface DeliverBatchResult {
  readonly succeeded: number;
  /** Failed, or still running when the batch ended: each continues in a retry workflow. */
  readonly retrying: number;
  /** Not sent: canceled, or no longer part of the batch. */
  readonly skipped: number;
}
