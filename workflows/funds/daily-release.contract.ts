export const workflowType = 'releaseDailyFunds';

/** The Temporal Schedule that starts the workflow. */
export const scheduleId = 'funds-daily-release';

export interface DailyReleaseResult {
  readonly releasedInstallments: number;
  /** Advance requests refused because a covered date has come. */
  readonly refusedRequests: number;
  /** Requests that could be neither refused nor paid out yet; the next release tries again. */
  readonly leftRequests: number;
  /** Accounts whose funds could not be released; the next release tries again. */
  readonly failedAccounts: number;
}
