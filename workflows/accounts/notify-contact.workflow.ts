import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import {
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type {
  NotifyContactInput,
  NotifyContactResult,
} from '../../services/contracts/accounts/notify-contact.contract.ts';
import { searchAttributesOf } from '../temporal/search-attributes.ts';
import { STARTED_AGAIN_SIGNAL } from '../temporal/started-again-signal.ts';
import type { NoticeActivities } from './notice.activities.ts';

const { findNotice } = proxyActivities<NoticeActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/** A mail server that is away, or wants to see mail twice, is asked for half a day. */
const { tellRecipient } = proxyActivities<NoticeActivities>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '12 hours',
  retry: { initialInterval: '2 seconds', maximumInterval: '15 minutes' },
});

const QUIET_MS = 3_600_000;
/** A webhook may fail and recover many times in an hour, and Temporal takes so many signals of one run, no more. */
const MOST_STARTS = 200;
const DETAILS = `Writes to the merchant's contact, then keeps quiet for an hour.

- **Cancel**: no more is written of what has happened until now.`;

type Told = 'sent' | 'refused' | 'left';

/**
 * Writes to everybody concerned, once for what happened. Of a subscription in trouble it writes once an hour at most:
 * when there is trouble again in that time, and at its end still, it then writes about that.
 */
export async function notifyContact(input: NotifyContactInput): Promise<NotifyContactResult> {
  let starts = 0;
  setHandler(defineSignal(STARTED_AGAIN_SIGNAL), () => {
    starts += 1;
  });
  const goOn = (next: Pick<NotifyContactInput, 'told' | 'quietUntil'>) =>
    continueAsNew<typeof notifyContact>({ ...input, quietUntil: undefined, ...next });
  const keepQuiet = async (told: string | undefined, quietUntil: string) => {
    const restMs = Date.parse(quietUntil) - Date.now();
    if (restMs > 0 && (await condition(() => starts >= MOST_STARTS, restMs)))
      await goOn({ told, quietUntil });
  };
  setCurrentDetails(DETAILS);
  const { environment, kind, subjectId } = input;
  const isOfSubscription = kind !== 'INVITATION';
  if (isOfSubscription) {
    upsertSearchAttributes(searchAttributesOf({ environment, subscriptionIds: [subjectId] }));
  }
  if (input.quietUntil !== undefined) await keepQuiet(input.told, input.quietUntil);
  // The start comes with a signal of its own, and what happened before it is looked at here.
  starts = 0;
  const found = await findNotice(input);
  if (found.state === 'NO_SMTP') return { outcome: 'NO_SMTP' };
  let { told } = input;
  let result: NotifyContactResult = { outcome: found.state === 'NOBODY' ? 'NOBODY' : 'OVER' };
  if (found.state === 'DUE' && found.happenedAt !== told) {
    told = found.happenedAt;
    const outcomes = await Promise.all(found.recipients.map((recipient) => tell(input, recipient)));
    const count = (outcome: Told) => outcomes.filter((one) => one === outcome).length;
    result = { outcome: 'TOLD', sent: count('sent'), refused: count('refused'), left: count('left') };
    setCurrentDetails(`Sent to ${result.sent} of ${outcomes.length} addresses.\n\n${DETAILS}`);
    if (isOfSubscription && result.sent > 0) {
      await keepQuiet(told, new Date(Date.now() + QUIET_MS).toISOString());
    }
  }
  if (starts > 0) await goOn({ told });
  return result;
}

/** One address that cannot be written to keeps no other from its mail. */
async function tell(input: NotifyContactInput, recipient: string): Promise<Told> {
  try {
    return (await tellRecipient(input, recipient)) === 'SENT' ? 'sent' : 'left';
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return error.cause instanceof ApplicationFailure && error.cause.nonRetryable ? 'refused' : 'left';
  }
}
