import { createHash } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import {
  type NotifyContactInput,
  workflowId,
} from '../../services/contracts/accounts/notify-contact.contract.ts';
import { withFinalRefusals } from '../final-refusal.ts';
import type { MailLinks } from './mail-links.ts';
import { type Notice, type NoticeClients, readNotice } from './notice.ts';
import { composeMail } from './notice-mail.ts';
import { MailError, type SendMail } from './smtp-mailer.ts';

export interface NoticeDependencies extends NoticeClients {
  /** Undefined without a mail server. */
  readonly sendMail: SendMail | undefined;
  readonly links: MailLinks;
}

/**
 * Whether a notice is due, and to whom. Recipients are identified by a hash of their address: email addresses must not
 * appear in workflow histories.
 */
export type FoundNotice =
  | { readonly state: 'NO_SMTP' | 'NO_LONGER_DUE' | 'NO_RECIPIENTS' }
  | {
      readonly state: 'DUE';
      /** Identifies the occasion. */
      readonly happenedAt: string;
      readonly recipients: readonly string[];
    };

export type NoticeActivities = ReturnType<typeof createNoticeActivities>;

/** The activities that send mail to merchants' contacts. Neither their results nor their failures contain an address. */
export function createNoticeActivities({ sendMail, links, ...clients }: NoticeDependencies) {
  return withFinalRefusals({
    /** Whether the notice is still due, and to whom. */
    async findNotice(input: NotifyContactInput): Promise<FoundNotice> {
      if (!sendMail) return { state: 'NO_SMTP' };
      const notice = await readNotice(clients, input);
      if (!notice) return { state: 'NO_LONGER_DUE' };
      if (notice.emails.length === 0) return { state: 'NO_RECIPIENTS' };
      const recipients = notice.emails.map((email) => recipientId(input, email));
      return { state: 'DUE', happenedAt: occasionOf(notice), recipients };
    },

    /**
     * Sends the notice in its current state to one recipient, unless it is no longer due or the address is no longer a
     * recipient. When a worker dies after the mail server has accepted the mail, the retry sends it again with the same
     * Message-ID, unless the merchant owes another amount by then.
     */
    async sendNotice(input: NotifyContactInput, recipient: string): Promise<'SENT' | 'NO_LONGER_DUE'> {
      if (!sendMail) throw new Error('this worker has no mail server configured');
      const notice = await readNotice(clients, input);
      const to = notice?.emails.find((email) => recipientId(input, email) === recipient);
      if (!notice || to === undefined) return 'NO_LONGER_DUE';
      const id = digest(workflowId(input.kind, input.subjectId), occasionOf(notice), to);
      await sendMail({ ...composeMail(notice, input, links), to, id }).catch((error: unknown) => {
        if (!(error instanceof MailError && error.isPermanent)) throw error;
        throw ApplicationFailure.nonRetryable(error.message, 'MAIL_REJECTED');
      });
      return 'SENT';
    },
  });
}

/** Debts also grow by a deduction that is raised, and keep their date. */
function occasionOf({ subject, happenedAt }: Notice): string {
  const at = happenedAt.toISOString();
  return subject.kind === 'DEBTS' ? `${at} ${subject.owedMinor}` : at;
}

const recipientId = ({ kind, subjectId }: NotifyContactInput, email: string) =>
  digest(workflowId(kind, subjectId), email);

const digest = (...parts: readonly string[]) =>
  createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 32);
