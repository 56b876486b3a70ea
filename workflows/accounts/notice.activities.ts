import { createHash } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import {
  type NotifyContactInput,
  workflowId,
} from '../../services/contracts/accounts/notify-contact.contract.ts';
import { withFinalRefusals } from '../final-refusal.ts';
import { type NoticeClients, readNotice } from './notice.ts';
import { composeMail, type MailPlaces } from './notice-mail.ts';
import { MailRefusal, type SendMail } from './smtp-mailer.ts';

export interface NoticeDependencies extends NoticeClients {
  /** Absent without a mail server. */
  readonly sendMail: SendMail | undefined;
  readonly places: MailPlaces;
}

/** What there is to write; recipients go by names of ours, since addresses are not to stand in histories. */
export type FoundNotice =
  | { readonly state: 'NO_SMTP' | 'OVER' | 'NOBODY' }
  | { readonly state: 'DUE'; readonly happenedAt: string; readonly recipients: readonly string[] };

export type NoticeActivities = ReturnType<typeof createNoticeActivities>;

/** The activities that write to merchants' contacts. What they answer, and their failures, hold no address. */
export function createNoticeActivities({ sendMail, places, ...clients }: NoticeDependencies) {
  return withFinalRefusals({
    /** Whether there is something to write still, and to whom. */
    async findNotice(input: NotifyContactInput): Promise<FoundNotice> {
      if (!sendMail) return { state: 'NO_SMTP' };
      const notice = await readNotice(clients, input);
      if (!notice) return { state: 'OVER' };
      if (notice.emails.length === 0) return { state: 'NOBODY' };
      const recipients = notice.emails.map((email) => recipientName(input, email));
      return { state: 'DUE', happenedAt: notice.happenedAt.toISOString(), recipients };
    },

    /**
     * Writes to one of them, in what has become of it meanwhile: nothing when it is over, or when the address is not to
     * be written to any more. A worker that dies after the mail server has taken the mail sends it again, under the
     * same Message-ID.
     */
    async tellRecipient(input: NotifyContactInput, recipient: string): Promise<'SENT' | 'OVER'> {
      if (!sendMail) throw new Error('this worker has no mail server');
      const notice = await readNotice(clients, input);
      const to = notice?.emails.find((email) => recipientName(input, email) === recipient);
      if (!notice || to === undefined) return 'OVER';
      const name = digest(workflowId(input.kind, input.subjectId), notice.happenedAt.toISOString(), to);
      await sendMail({ ...composeMail(notice, input, places), to, name }).catch((error: unknown) => {
        if (!(error instanceof MailRefusal && error.isFinal)) throw error;
        throw ApplicationFailure.nonRetryable(error.message, 'MAIL_REFUSED');
      });
      return 'SENT';
    },
  });
}

const recipientName = ({ kind, subjectId }: NotifyContactInput, email: string) =>
  digest(workflowId(kind, subjectId), email);

const digest = (...parts: readonly string[]) =>
  createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 32);
