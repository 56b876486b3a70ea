import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import {
  DeliveryService,
  DeliveryStatus,
  EventService,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { DAY_MS } from '../../services/platform/durations.ts';
import { type ComparedList, compareLists, md5Of, uuidOf } from './list-comparison.ts';
import { SEEDED } from './seed-lists.ts';

type Filters = ComparedList['filters'];
type Filter = Filters[string];

const MOST = 'refund.requested.v1';
const ONE_IN_TEN = 'refund.succeeded.v1';
const FEW = 'refund.failed.v1';
const NONE = 'dispute.opened.v1';
const middle = timestampFromMs(Date.now() - 15 * DAY_MS);

/** An object or request in the middle. */
const object: Filter = ({ count }) => ({ objectId: `object${Math.floor(count / 6) + 2}` });
const request: Filter = ({ count }) => ({ requestId: md5Of(`request${Math.floor(count / 4)}`) });

const both =
  (...filters: readonly Filter[]): Filter =>
  (merchant) =>
    Object.assign({}, ...filters.map((each) => (typeof each === 'function' ? each(merchant) : each)));

const EVENTS: Filters = {
  'no filter': {},
  'type, most': { type: MOST },
  'type, one in ten': { type: ONE_IN_TEN },
  'type, few': { type: FEW },
  'type, none': { type: NONE },
  object,
  request,
  'from a day in the middle': { publishedTo: middle },
  'up to a day in the middle': { publishedFrom: middle },
  'object and type': both(object, { type: MOST }),
  'object and type, none': both(object, { type: NONE }),
  'request and type': both(request, { type: MOST }),
  'object and request, none': both(object, { requestId: 'none' }),
  'day and type': { publishedTo: middle, type: ONE_IN_TEN },
  'day and type, none': { publishedFrom: middle, type: FEW },
};

const { SUCCEEDED, PENDING, HELD, RETRYING, EXHAUSTED, CANCELED } = DeliveryStatus;
const subscription = (name: number | string) => ({ subscriptionId: uuidOf(`subscription${name}`) });
const resend = { resendId: uuidOf('resend') };

const DELIVERIES: Filters = {
  'no filter': {},
  'status, most': { status: SUCCEEDED },
  'status, most of the open ones': { status: PENDING },
  'status, one in forty': { status: HELD },
  'status, one in a hundred': { status: EXHAUSTED },
  'status, few': { status: RETRYING },
  'status, none': { status: CANCELED },
  'subscription, one in ten': subscription(7),
  'subscription, few': subscription('few'),
  'event type, most': { eventType: MOST },
  'event type, one in ten': { eventType: ONE_IN_TEN },
  'event type, few': { eventType: FEW },
  'event type, none': { eventType: NONE },
  resend,
  object,
  request,
  'from a day in the middle': { createdTo: middle },
  'up to a day in the middle': { createdFrom: middle },
  'subscription and status, most': { ...subscription(7), status: SUCCEEDED },
  'subscription and status, one in a hundred': { ...subscription(7), status: EXHAUSTED },
  'subscription and status, none': { ...subscription(3), status: EXHAUSTED },
  'subscription and event type': { ...subscription(7), eventType: MOST },
  'subscription and event type, none': { ...subscription(3), eventType: MOST },
  'subscription and resend': { ...subscription(3), ...resend },
  'subscription and resend, none': { ...subscription(7), ...resend },
  'subscription and day': { ...subscription(7), createdTo: middle },
  'event type and status': { eventType: MOST, status: EXHAUSTED },
  'event type and status, none': { eventType: ONE_IN_TEN, status: HELD },
  'event type and resend': { eventType: ONE_IN_TEN, ...resend },
  'event type and day': { eventType: ONE_IN_TEN, createdTo: middle },
  'status and resend': { status: SUCCEEDED, ...resend },
  'status and resend, none': { status: EXHAUSTED, ...resend },
  'status and day': { status: EXHAUSTED, createdTo: middle },
  'object and status': both(object, { status: SUCCEEDED }),
  'object and event type': both(object, { eventType: MOST }),
  'object and subscription, none': both(object, subscription('few')),
  'request and status': both(request, { status: SUCCEEDED }),
  'request and event type, none': both(request, { eventType: NONE }),
};

/** How much longer events and deliveries take, with each filter, for a merchant with a thousand times as many rows. */
export const benchWebhookLists = () =>
  compareLists((transport) => {
    const events = createClient(EventService, transport);
    const deliveries = createClient(DeliveryService, transport);
    return {
      events: {
        rows: SEEDED.events,
        read: async (page) => (await events.listEvents(page)).events,
        filters: EVENTS,
      },
      deliveries: {
        rows: SEEDED.deliveries,
        read: async (page) => (await deliveries.listDeliveries(page)).deliveries,
        filters: DELIVERIES,
      },
    };
  });
