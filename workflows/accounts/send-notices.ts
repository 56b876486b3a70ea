import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { isCancellation, proxyActivities } from '@temporalio/workflow';
import type { NotifyContactInput } from '../../services/contracts/accounts/notify-contact.contract.ts';
import type { NoticeActivities } from './notice.activities.ts';

/** Retries for half a day: the mail server may be unavailable or use greylisting. */
const { sendNotice } = proxyActivities<NoticeActivities>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '12 hours',
  retry: { initialInterval: '2 seconds', maximumInterval: '15 minutes' },
});

type SendOutcome = 'sent' | 'rejected' | 'unsent';

/** Sends a notice to every recipient. A failure to send to one does not stop mail to the others. */
export async function sendNotices(input: NotifyContactInput, recipients: readonly string[]) {
  const outcomes = await Promise.all(recipients.map((recipient) => sendTo(input, recipient)));
  const count = (outcome: SendOutcome) => outcomes.filter((one) => one === outcome).length;
  return {
    outcome: 'NOTIFIED',
    sent: count('sent'),
    rejected: count('rejected'),
    unsent: count('unsent'),
  } as const;
}

async function sendTo(input: NotifyContactInput, recipient: string): Promise<SendOutcome> {
  try {
    return (await sendNotice(input, recipient)) === 'SENT' ? 'sent' : 'unsent';
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    const isPermanent = error.cause instanceof ApplicationFailure && error.cause.nonRetryable;
    return isPermanent ? 'rejected' : 'unsent';
  }
}
