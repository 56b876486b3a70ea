import {
  condition,
  continueAsNew,
  defineSignal,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type {
  NotifyContactInput,
  NotifyContactResult,
} from '../../services/contracts/accounts/notify-contact.contract.ts';
import { STARTED_AGAIN_SIGNAL } from '../temporal/outbox-start.ts';
import { searchAttributesOf } from '../temporal/search-attributes.ts';
import type { NoticeActivities } from './notice.activities.ts';
import { sendNotices } from './send-notices.ts';

const { findNotice } = proxyActivities<NoticeActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

const QUIET_PERIOD_MS = 3_600_000;
/** A webhook may fail and recover many times in an hour, and Temporal limits the signals of one run. */
const MAX_STARTS_PER_RUN = 200;
const DETAILS = `Notifies the merchant's contact, then sends nothing more for an hour.

- **Cancel**: discards the notices that have not been sent yet.`;

/**
 * Notifies every recipient once. Recurring occasions, such as a failing subscription, cause at most one mail an hour:
 * if it recurs within the hour and still persists at its end, recipients get another mail then.
 */
export async function notifyContact(input: NotifyContactInput): Promise<NotifyContactResult> {
  let starts = 0;
  setHandler(defineSignal(STARTED_AGAIN_SIGNAL), () => {
    starts += 1;
  });
  const runAgain = (next: Pick<NotifyContactInput, 'lastHappenedAt' | 'quietUntil'>) =>
    continueAsNew<typeof notifyContact>({ ...input, quietUntil: undefined, ...next });
  const waitUntil = async (quietUntil: string, lastHappenedAt: string | undefined) => {
    const waitMs = Date.parse(quietUntil) - Date.now();
    if (waitMs > 0 && (await condition(() => starts >= MAX_STARTS_PER_RUN, waitMs)))
      await runAgain({ lastHappenedAt, quietUntil });
  };
  setCurrentDetails(DETAILS);
  const { environment, kind, subjectId } = input;
  const isAboutSubscription = kind.startsWith('WEBHOOK_');
  const mayRepeat = isAboutSubscription || kind === 'REFUND_DEADLINES' || kind === 'DEBTS';
  if (isAboutSubscription) {
    upsertSearchAttributes(searchAttributesOf({ environment, subscriptionIds: [subjectId] }));
  }
  if (input.quietUntil !== undefined) await waitUntil(input.quietUntil, input.lastHappenedAt);
  // The start itself sends a signal too, and findNotice sees everything that happened before it.
  starts = 0;
  const found = await findNotice(input);
  if (found.state === 'NO_SMTP') return { outcome: 'NO_SMTP' };
  let { lastHappenedAt } = input;
  let result: NotifyContactResult = {
    outcome: found.state === 'NO_RECIPIENTS' ? 'NO_RECIPIENTS' : 'NO_LONGER_DUE',
  };
  if (found.state === 'DUE' && found.happenedAt !== lastHappenedAt) {
    lastHappenedAt = found.happenedAt;
    const { result: notified, isOutdated } = await sendNotices(input, found.recipients);
    // The only recipients have left while the mail server was unavailable: others may have replaced them.
    if (isOutdated && patched('outdated-notice')) await runAgain({ lastHappenedAt: input.lastHappenedAt });
    result = notified;
    setCurrentDetails(`Sent to ${notified.sent} of ${found.recipients.length} addresses.\n\n${DETAILS}`);
    if (mayRepeat && notified.sent > 0) {
      await waitUntil(new Date(Date.now() + QUIET_PERIOD_MS).toISOString(), lastHappenedAt);
    }
  }
  if (starts > 0) await runAgain({ lastHappenedAt });
  return result;
}
