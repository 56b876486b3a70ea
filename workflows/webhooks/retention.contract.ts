export const workflowType = 'applyWebhookRetention';

/** Of the Temporal Schedule that starts the workflow. */
export const scheduleId = 'webhook-retention';

/** What was done, by the names of partitions. */
export interface RetentionResult {
  readonly createdPartitions: readonly string[];
  readonly droppedPartitions: readonly string[];
  /** Those that something read: they go with the next run. */
  readonly waitingPartitions: readonly string[];
  /** Deliveries that were still open when their event's time was up. */
  readonly expiredDeliveries: number;
}
