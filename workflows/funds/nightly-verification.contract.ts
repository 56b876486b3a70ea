export const workflowType = 'verifyAllFunds';

/** The Temporal Schedule that starts the workflow. */
export const scheduleId = 'funds-nightly-verification';

export interface VerificationResult {
  readonly verifiedAccounts: number;
  /** Also in the metrics and logs of the services that found them. */
  readonly differences: number;
  /** Accounts that could not be verified; the metrics and logs have the causes. */
  readonly failedAccounts: number;
}
