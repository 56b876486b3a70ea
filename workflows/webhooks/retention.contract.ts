export const workflowType = 'applyWebhookRetention';

/** The Temporal Schedule that starts the workflow. */
export const scheduleId = 'webhook-retention';

/** The changes, by the names of partitions. */
export interface RetentionResult {
  readonly createdPartitions: readonly string[];
  readonly droppedPartitions: readonly string[];
  /** In use by readers; the next run drops them. */
  readonly waitingPartitions: readonly string[];
  /** Deliveries that were still open when their event's retention period ended. */
  readonly expiredDeliveries: number;
}
