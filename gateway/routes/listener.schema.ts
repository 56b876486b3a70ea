import { Type } from 'typebox';
import { closedObject, oneOf, uuid } from './schemas.ts';

const eventType = () => Type.String({ minLength: 1, maxLength: 100 });
const eventTypes = Type.Optional(Type.Array(eventType(), { minItems: 1, maxItems: 50, uniqueItems: true }));

export const listenerCreation = closedObject({
  signingSecret: Type.String({
    pattern: '^whsec_[A-Za-z0-9+/]{32,86}={0,2}$',
    'x-allowed': 'whsec_ and base64 of 24 to 64 bytes',
  }),
  forwardsTo: Type.String({ minLength: 1, maxLength: 2048 }),
  eventTypes,
});

export const listenerDeliveryParams = closedObject({ listenerId: uuid(''), deliveryId: uuid('') });

/** What a local server answered, or why it did not. */
export const listenerReport = closedObject({
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
  failure: Type.Optional(
    oneOf(['DNS', 'CONNECTION_REFUSED', 'CONNECTION_RESET', 'TLS', 'TIMEOUT', 'PROTOCOL', 'UNREACHABLE'], ''),
  ),
  latencyMs: Type.Integer({ minimum: 0, maximum: 60_000 }),
  response: Type.Optional(Type.String({ maxLength: 4096 })),
});

/** An event to publish with its example data. */
export const eventTrigger = closedObject({ type: eventType() });

/** An event to deliver again. */
export const listenerResend = closedObject({ eventId: uuid('') });

/** Which events to follow. */
export const eventsQuery = closedObject({
  types: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
});
