import type { CancelWorkflow, StartWorkflow } from '../../platform/outbox/workflow-command.ts';
import type { Tenant } from '../../platform/tenant.ts';
import { startWorkflow } from '../start-workflow.ts';

export const workflowType = 'notifyContact';

/**
 * The occasions for a mail: a subscription that has been failing for a while, one in ERROR, one disabled by a 410, an
 * invitation, refund cases whose decision is due soon, a dispute whose response is due soon or has no due date, debts that
 * the balance does not cover, an API key that expires soon, a refund that the balance does not cover, one that failed, one
 * that was reviewed, approved refunds that the merchant's verification or account blocks, a dispute that was closed or reversed, an
 * advance that was refused, one that is not paid out, funds that are held until the merchant is verified.
 */
export type NoticeKind =
  | 'WEBHOOK_FAILING'
  | 'WEBHOOK_ERROR'
  | 'WEBHOOK_GONE'
  | 'INVITATION'
  | 'REFUND_DEADLINES'
  | 'DISPUTE_DUE'
  | 'DEBTS'
  | 'API_KEY_EXPIRING'
  | OutcomeKind;

/** The outcome of a refund, a dispute, an advance, or a merchant's refunds or funds. */
export type OutcomeKind =
  | 'REFUND_UNFUNDED'
  | 'REFUND_FAILED'
  | 'REFUND_REVIEWED'
  | 'REFUNDS_BLOCKED'
  | 'DISPUTE_ENDED'
  | 'ADVANCE_REFUSED'
  | 'ADVANCE_UNPAID'
  | 'FUNDS_HELD';

export const workflowId = (kind: NoticeKind, subjectId: string) => `notice-${kind}-${subjectId}`;

export interface NotifyContactInput extends Tenant {
  readonly kind: NoticeKind;
  /**
   * The id of the subscription, invitation, API key, refund case, dispute or advance request; of the merchant for its refund
   * cases, debts and funds.
   */
  readonly subjectId: string;
  /** Identifies the occasion of the last notice; recipients are not notified of it again. */
  readonly lastHappenedAt?: string | undefined;
  /** Until when nothing is sent (ISO 8601): a later occasion, or the quiet period of the previous run. */
  readonly quietUntil?: string | undefined;
  /** The language of an invitation; by default that of the merchant's mail. */
  readonly language?: 'PT_BR' | 'EN' | undefined;
}

/** Whether a notice was due, and how many addresses it was sent to. */
export type NotifyContactResult =
  | { readonly outcome: 'NO_SMTP' | 'NO_LONGER_DUE' | 'NO_RECIPIENTS' }
  | {
      readonly outcome: 'NOTIFIED';
      readonly sent: number;
      /** The mail server rejected the mail permanently. */
      readonly rejected: number;
      /** Retries ran out, or the address is no longer a recipient's. */
      readonly unsent: number;
    };

/** Notifies the merchant's contact once the transaction commits. */
export const startCommand = (input: NotifyContactInput) =>
  startWorkflow(workflowType, workflowId(input.kind, input.subjectId), input);

/** Discards a notice that has not been sent, so that the next one does not wait until it would have been due. */
export const cancelCommand = (kind: NoticeKind, subjectId: string): CancelWorkflow => ({
  kind: 'CANCEL',
  workflowId: workflowId(kind, subjectId),
});

/**
 * The arguments of `insertCommandsOf` that send a notice for each row of a query. The workflow's input is built from
 * the row's merchant_id, environment and id.
 */
export const noticeOfEachRow = (kind: NoticeKind) => ({
  command: startWorkflow(workflowType, workflowId(kind, ''), {}),
  argumentsSql: `jsonb_build_array(jsonb_build_object(
       'merchantId', merchant_id, 'environment', environment, 'kind', '${kind}', 'subjectId', id))`,
});

const DAY_MS = 86_400_000;

/** The transaction that records an outcome. */
export interface OutcomeTransaction {
  readonly tenant: Tenant;
  command(command: StartWorkflow): Promise<void>;
}

/**
 * Notifies the merchant's staff of an outcome once the transaction commits. Sends no mail about the sandbox, nor about
 * outcomes recorded more than a day late: an import must not mail about each old outcome.
 */
export async function notifyOfOutcome(
  tx: OutcomeTransaction,
  outcome: Omit<NotifyContactInput, keyof Tenant> & { readonly kind: OutcomeKind },
  happenedAt: Date,
): Promise<void> {
  const isImport = Date.now() - happenedAt.getTime() > DAY_MS;
  if (tx.tenant.environment === 'live' && !isImport)
    await tx.command(startCommand({ ...tx.tenant, ...outcome }));
}
