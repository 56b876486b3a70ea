export const workflowType = 'releaseDailyFunds';

/** Of the Temporal Schedule that starts the workflow. */
export const scheduleId = 'funds-daily-release';

export interface DailyReleaseResult {
  readonly releasedInstallments: number;
  /** Advance requests that were refused because a covered date had come. */
  readonly refusedRequests: number;
  /** Those that could be neither refused nor paid out yet; the next run meets them again. */
  readonly leftRequests: number;
}
