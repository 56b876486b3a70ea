import type { EnvironmentName } from '../../platform/tenant.ts';

export const workflowType = 'executeFundedRefunds';

/** Each wake-up has a workflow of its own: none is lost to one that is just ending. */
export const workflowId = (id: string) => `refund-funding-${id}`;

export interface ExecuteFundedRefundsInput {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  /** A case to be tried first, whatever the balance: nothing else keeps it from its funds any more. */
  readonly refundCaseId?: string;
}

/** A refund that waits for the balance, or did. */
export interface WaitingRefund {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly refundCaseId: string;
}
