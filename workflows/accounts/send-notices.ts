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

type SendOutcome = 'sent' | 'rejected' | 'unsent' | 'outdated';

/**
 * Sends a notice to every recipient. A failure to send to one does not stop mail to the others.
 * @returns the result, and whether the recipients must be looked up again: nobody got the mail, and for one of them it is no
 *   longer due or the address has changed.
 */
export async function sendNotices(input: NotifyContactInput, recipients: readonly string[]) {
  const outcomes = await Promise.all(recipients.map((recipient) => sendTo(input, recipient)));
  const count = (outcome: SendOutcome) => outcomes.filter((one) => one === outcome).length;
  const result = {
    outcome: 'NOTIFIED',
    sent: count('sent'),
    rejected: count('rejected'),
    unsent: count('unsent') + count('outdated'),
  } as const;
  return { result, isOutdated: result.sent === 0 && count('outdated') > 0 };
}

async function sendTo(input: NotifyContactInput, recipient: string): Promise<SendOutcome> {
  try {
    return (await sendNotice(input, recipient)) === 'SENT' ? 'sent' : 'outdated';
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    const isPermanent = error.cause instanceof ApplicationFailure && error.cause.nonRetryable;
    return isPermanent ? 'rejected' : 'unsent';
  }
}
