import type { EnvironmentName } from '../../platform/tenant.ts';

export const workflowType = 'notifyContact';

/** What somebody is written to about: a subscription in ERROR or disabled by a 410, or an invitation. */
export type NoticeKind = 'WEBHOOK_ERROR' | 'WEBHOOK_GONE' | 'INVITATION';

export const workflowId = (kind: NoticeKind, subjectId: string) => `notice-${kind}-${subjectId}`;

export interface NotifyContactInput {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly kind: NoticeKind;
  /** Of the subscription or the invitation. */
  readonly subjectId: string;
  /** When what was written about last had happened; the same is not written about again. */
  readonly told?: string | undefined;
  /** Until when the run before kept quiet; this one goes on with it. */
  readonly quietUntil?: string | undefined;
}

/** Whether mail was due, and what came of it, in addresses. */
export type NotifyContactResult =
  | { readonly outcome: 'NO_SMTP' | 'OVER' | 'NOBODY' }
  | {
      readonly outcome: 'TOLD';
      readonly sent: number;
      /** The mail server refused them for good. */
      readonly refused: number;
      /** Given up, or no longer to be written to. */
      readonly left: number;
    };

/** What goes into the outbox to have somebody written to. */
export const notifyContactCommand = (input: NotifyContactInput) => ({
  ...{ kind: 'START' as const, workflowType, arguments: [input] },
  workflowId: workflowId(input.kind, input.subjectId),
});
