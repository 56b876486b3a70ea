import { timestampDate } from '@bufbuild/protobuf/wkt';
import { MAX, NIL, v7 as uuidv7 } from 'uuid';
import type {
  PublishedPeriod,
  ResendDeliveriesRequest,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { invalidArgument } from '../../platform/errors.ts';
import type { ResendRow } from './resend.entity.ts';

/** The selection of a resend, and the first and last id of the events to examine, both inclusive. */
export type ResendSelection = Pick<
  ResendRow,
  'eventId' | 'eventRequestId' | 'periodFrom' | 'periodTo' | 'afterEventId' | 'lastEventId'
>;

const NONE = { eventId: null, eventRequestId: null, periodFrom: null, periodTo: null };

/**
 * The selection of a validated request. A period ends at `now` at the latest, because later events are being delivered
 * anyway. INVALID_ARGUMENT (RESEND_SELECTION).
 */
export function selectionOf(
  { selection, subscriptionId }: Pick<ResendDeliveriesRequest, 'selection' | 'subscriptionId'>,
  now: Date,
): ResendSelection {
  switch (selection.case) {
    case 'eventId': {
      const eventId = selection.value.toLowerCase();
      return { ...NONE, eventId, afterEventId: eventId, lastEventId: eventId };
    }
    case 'requestId':
      return { ...NONE, eventRequestId: selection.value, afterEventId: NIL, lastEventId: MAX };
    case 'period':
      if (subscriptionId === undefined) throw invalidSelection('a period requires a subscription_id');
      return { ...NONE, ...periodOf(selection.value, now) };
    case undefined:
      throw new TypeError('a validated request has a selection');
    default:
      return selection satisfies never;
  }
}

/** The time of publishing is the one in the event's id, in milliseconds. */
function periodOf({ from, to }: PublishedPeriod, now: Date) {
  const [periodFrom, periodTo] = [timestampDate(from!), timestampDate(to!)];
  if (periodTo <= periodFrom) throw invalidSelection('the period does not end after it begins');
  const lastMs = Math.min(periodTo.getTime() - 1, now.getTime());
  return {
    periodFrom,
    periodTo,
    afterEventId: uuidv7({ msecs: Math.max(periodFrom.getTime(), 0), random: new Uint8Array(16), seq: 0 }),
    lastEventId: lastMs < 0 ? NIL : uuidv7({ msecs: lastMs, random: ALL_ONES, seq: 0xffff_ffff }),
  };
}

const ALL_ONES = new Uint8Array(16).fill(0xff);

const invalidSelection = (message: string) =>
  invalidArgument('RESEND_SELECTION', `period: ${message}`, { field: 'period' });
