import type { EventType } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { PING_TYPE } from '../../services/contracts/webhooks/ping-type.ts';
import { ENVIRONMENTS, type EnvironmentName } from '../../services/platform/tenant.ts';
import type { JsonObject, NamedSchemas } from './named-schemas.ts';

const EVENT_ID = '01a1fda4-1c3e-7f52-b0a9-6d2f8c4e7b15';
const REQUEST_ID = '7d4f0c9a-2b6e-4e13-8f57-c0a1d92b3e64';
const OCCURRED_AT = '2026-11-21T12:30:45.123Z';

/** Sent when a subscription is created or reactivated; the catalog holds only event types that can be subscribed to. */
const PING = {
  name: PING_TYPE,
  description:
    'Sent to a subscription when it is created or reactivated, when its URL changes, and as a test event. You cannot subscribe to it.',
  dataSchema: {
    type: 'object',
    description: 'The subscription that receives the ping.',
    properties: {
      subscriptionId: { type: 'string', format: 'uuid', description: 'Id of the subscription.' },
    },
    required: ['subscriptionId'],
    additionalProperties: false,
  },
  dataExample: { subscriptionId: '01a1fda3-4967-7115-8904-c76380c6a16e' },
};

type EventDescription = Pick<EventType, 'name' | 'description' | 'dataSchema' | 'dataExample'>;

const HEADERS: readonly JsonObject[] = [
  {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description: 'The id of the event, the same in every attempt and resend. Process each id once.',
    schema: { type: 'string', format: 'uuid' },
    example: EVENT_ID,
  },
  {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description: 'The time of this attempt in Unix seconds. Reject attempts older than five minutes.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
    example: '1795264245',
  },
  {
    name: 'webhook-signature',
    in: 'header',
    required: true,
    description:
      'Standard Webhooks v1: `v1,` and the base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` with the signing secret. While a secret is being rotated there is one signature per secret, separated by spaces.',
    schema: { type: 'string', pattern: '^v1,[A-Za-z0-9+/]+=*( v1,[A-Za-z0-9+/]+=*)*$' },
    example: 'v1,Kx9aF3n0bq7V1mZ2c8yW5tRrQeHj6uLdPzSgNoYxBwE=',
  },
];

const RESPONSES: JsonObject = {
  '2XX': {
    description:
      'Received. At most 64 KiB of the response body are read, and the beginning is kept in the delivery log.',
  },
  '410': { description: 'Gone: the subscription is disabled, and nothing more is sent.' },
  '429': { description: 'Retried, not before `Retry-After` (at most 24 hours).' },
  '503': { description: 'Retried, not before `Retry-After` (at most 24 hours).' },
  default: {
    description:
      'Not received, as when the connection fails or there is no response within 15 seconds. Redirects are not followed. Retried on the retry schedule.',
  },
};

/** Builds the `webhooks` of the document: one entry per event type, and the ping. */
export function webhooksOf(
  eventTypes: readonly EventType[],
  environment: EnvironmentName,
  schemas: NamedSchemas,
): JsonObject {
  const nameOf = dataNames(eventTypes);
  return Object.fromEntries(
    [...eventTypes, PING as EventDescription].map((type) => [
      type.name,
      { post: delivery(type, nameOf(type), environment, schemas) },
    ]),
  );
}

function delivery(
  { name, description, dataSchema, dataExample }: EventDescription,
  dataName: string,
  environment: EnvironmentName,
  schemas: NamedSchemas,
): JsonObject {
  const example = {
    id: EVENT_ID,
    type: name,
    timestamp: OCCURRED_AT,
    environment,
    requestId: REQUEST_ID,
    sequence: 1,
    data: dataExample!,
  };
  const schema = envelope(name, { title: dataName, ...dataSchema });
  return {
    operationId: `on${pascalCase(name)}`,
    summary: name,
    description,
    tags: ['Events'],
    security: [],
    parameters: HEADERS,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemas.use(schema), example } },
    },
    responses: RESPONSES,
  };
}

function envelope(name: string, data: JsonObject): JsonObject {
  const properties = {
    id: { type: 'string', format: 'uuid', description: 'The id of the event; equals `webhook-id`.' },
    type: { const: name, description: 'The type of the event.' },
    timestamp: { type: 'string', format: 'date-time', description: 'When the event occurred, in UTC.' },
    environment: {
      type: 'string',
      enum: [...ENVIRONMENTS],
      description: 'The environment in which the event occurred.',
    },
    requestId: { type: 'string', description: 'The request that caused the event; quote it to support.' },
    sequence: {
      type: 'integer',
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'Increases with each event of the same object, which is the `id` in `data`, or for funds the `date`; use it to order events.',
    },
    data,
  };
  return {
    title: `${pascalCase(name)}Event`,
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** Names the `data` schemas: one per noun if all its events share a schema, otherwise one per event type. */
function dataNames(eventTypes: readonly EventType[]): (type: EventDescription) => string {
  const byNoun = Map.groupBy(eventTypes, ({ name }) => nounOf(name));
  return ({ name }) => {
    const ofNoun = byNoun.get(nounOf(name)) ?? [];
    const schemas = new Set(ofNoun.map(({ dataSchema }) => JSON.stringify(dataSchema)));
    return `${pascalCase(schemas.size === 1 ? nounOf(name) : name)}EventData`;
  };
}

const nounOf = (eventType: string) => eventType.slice(0, eventType.indexOf('.'));

const pascalCase = (name: string) =>
  name.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());
