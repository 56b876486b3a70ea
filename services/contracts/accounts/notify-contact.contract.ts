import type { Tenant } from '../../platform/tenant.ts';
import { startWorkflow } from '../start-workflow.ts';

export const workflowType = 'notifyContact';

/** The occasions for a mail: a subscription in ERROR, one that a 410 has disabled, an invitation. */
export type NoticeKind = 'WEBHOOK_ERROR' | 'WEBHOOK_GONE' | 'INVITATION';

export const workflowId = (kind: NoticeKind, subjectId: string) => `notice-${kind}-${subjectId}`;

export interface NotifyContactInput extends Tenant {
  readonly kind: NoticeKind;
  /** The id of the subscription or the invitation. */
  readonly subjectId: string;
  /** When the occasion of the last notice happened (ISO 8601); recipients are not notified of it again. */
  readonly lastHappenedAt?: string | undefined;
  /** The end of the previous run's quiet period (ISO 8601), which this run continues. */
  readonly quietUntil?: string | undefined;
}

/** Whether a notice was due, and how many addresses it was sent to. */
export type NotifyContactResult =
  | { readonly outcome: 'NO_SMTP' | 'NO_LONGER_DUE' | 'NO_RECIPIENTS' }
  | {
      readonly outcome: 'NOTIFIED';
      readonly sent: number;
      /** The mail server rejected the mail permanently. */
      readonly rejected: number;
      /** Retries ran out, or the notice was no longer due. */
      readonly unsent: number;
    };

/** Notifies the merchant's contact once the transaction commits. */
export const startCommand = (input: NotifyContactInput) =>
  startWorkflow(workflowType, workflowId(input.kind, input.subjectId), input);
