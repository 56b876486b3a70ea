import { timestampDate } from '@bufbuild/protobuf/wkt';
import { MAX, NIL, v7 as uuidv7 } from 'uuid';
import type {
  PreviewResendRequest,
  PublishedPeriod,
  ResendDeliveriesRequest,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { NamedParameters } from '../../platform/database/named-sql.ts';
import { invalidArgument } from '../../platform/errors.ts';
import { parseAll } from '../../platform/request-faults.ts';
import type { ResendRow } from './resend.entity.ts';

/** The selection of a resend, and the first and last id of the events to examine, both inclusive. */
export type ResendSelection = Pick<
  ResendRow,
  | 'eventId'
  | 'eventRequestId'
  | 'periodFrom'
  | 'periodTo'
  | 'missedFrom'
  | 'missedBefore'
  | 'afterEventId'
  | 'lastEventId'
>;

const NONE = {
  eventId: null,
  eventRequestId: null,
  periodFrom: null,
  periodTo: null,
  missedFrom: null,
  missedBefore: null,
};

/**
 * The selection of a validated request. A period ends at `now` at the latest, because later events are being delivered
 * anyway. INVALID_ARGUMENT (RESEND_SELECTION).
 */
export function selectionOf(
  {
    selection,
    subscriptionId,
  }: Pick<ResendDeliveriesRequest | PreviewResendRequest, 'selection' | 'subscriptionId'>,
  now: Date,
): ResendSelection {
  switch (selection.case) {
    case 'eventId': {
      const eventId = selection.value.toLowerCase();
      return { ...NONE, eventId, afterEventId: eventId, lastEventId: eventId };
    }
    case 'requestId':
      return { ...NONE, eventRequestId: selection.value, afterEventId: NIL, lastEventId: MAX };
    case 'period': {
      const [, period] = parseAll(
        () => requireSubscription('period', subscriptionId),
        () => periodOf(selection.value, now),
      );
      return { ...NONE, ...period };
    }
    case 'missed': {
      requireSubscription('missed', subscriptionId);
      const { from: missedFrom, before: missedBefore } = selection.value;
      return { ...NONE, missedFrom, missedBefore, afterEventId: NIL, lastEventId: MAX };
    }
    case undefined:
      throw new TypeError('a validated request has a selection');
    default:
      return selection satisfies never;
  }
}

/** The time of publication is the one in the event's id, in milliseconds. */
function periodOf({ from, to }: PublishedPeriod, now: Date) {
  const [periodFrom, periodTo] = [timestampDate(from!), timestampDate(to!)];
  if (periodTo <= periodFrom) throw invalidSelection('period', 'does not end after it begins');
  const lastMs = Math.min(periodTo.getTime() - 1, now.getTime());
  return {
    periodFrom,
    periodTo,
    afterEventId: uuidv7({ msecs: Math.max(periodFrom.getTime(), 0), random: new Uint8Array(16), seq: 0 }),
    lastEventId: lastMs < 0 ? NIL : uuidv7({ msecs: lastMs, random: ALL_ONES, seq: 0xffff_ffff }),
  };
}

const FIND_MISSED = `
select min(id::text) as first, max(id::text) as last from webhooks.event
 where merchant_id = :merchantId and environment = :environment
   and position >= :missedFrom and position < :missedBefore`;

/**
 * Adds the ids of the events that were missed. All are committed, since the range ends where the subscription
 * receives events again.
 */
export async function withMissedEvents(
  execute: <Row>(sql: string, parameters: NamedParameters) => Promise<Row[]>,
  selection: ResendSelection,
): Promise<ResendSelection> {
  const { missedFrom, missedBefore } = selection;
  if (missedFrom === null) return selection;
  const [row] = await execute<{ first: string | null; last: string | null }>(FIND_MISSED, {
    missedFrom,
    missedBefore,
  });
  return { ...selection, afterEventId: row?.first ?? MAX, lastEventId: row?.last ?? NIL };
}

const ALL_ONES = new Uint8Array(16).fill(0xff);

function requireSubscription(selection: 'period' | 'missed', subscriptionId: string | undefined): void {
  if (subscriptionId === undefined) throw invalidSelection(selection, 'requires a subscription_id');
}

const invalidSelection = (field: 'period' | 'missed', fault: string) =>
  invalidArgument('RESEND_SELECTION', `${field}: ${fault}`, { field });
