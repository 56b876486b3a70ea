import type { EventType } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { EnvironmentName } from '../../services/platform/tenant.ts';
import type { JsonObject, NamedSchemas } from './named-schemas.ts';

const EVENT_ID = '01a1fda4-1c3e-7f52-b0a9-6d2f8c4e7b15';
const REQUEST_ID = '7d4f0c9a-2b6e-4e13-8f57-c0a1d92b3e64';
const OCCURRED_AT = '2026-11-21T12:30:45.123Z';

/** Sent when a subscription is created or reactivated; the catalogue has only what can be subscribed to. */
const PING = {
  name: 'webhook.ping.v1',
  description:
    'Sent to one subscription when it is created or reactivated. It can be neither subscribed to nor published.',
  dataSchema: {
    type: 'object',
    description: 'The subscription that is pinged.',
    properties: {
      subscriptionId: { type: 'string', format: 'uuid', description: 'Id of the subscription.' },
    },
    required: ['subscriptionId'],
    additionalProperties: false,
  },
  dataExample: { subscriptionId: '01a1fda3-4967-7115-8904-c76380c6a16e' },
};

type Described = Pick<EventType, 'name' | 'description' | 'dataSchema' | 'dataExample'>;

const HEADERS: readonly JsonObject[] = [
  {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description: 'The id of the event, the same in every attempt and resend: handle each once.',
    schema: { type: 'string', format: 'uuid' },
    example: EVENT_ID,
  },
  {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description: 'When this attempt was made, in Unix seconds. Refuse what is older than five minutes.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
    example: '1795264245',
  },
  {
    name: 'webhook-signature',
    in: 'header',
    required: true,
    description:
      'Standard Webhooks v1: `v1,` and the base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` under the signing secret; one per secret, with a space between, while a secret is rotated.',
    schema: { type: 'string', pattern: '^v1,[A-Za-z0-9+/]+=*( v1,[A-Za-z0-9+/]+=*)*$' },
    example: 'v1,Kx9aF3n0bq7V1mZ2c8yW5tRrQeHj6uLdPzSgNoYxBwE=',
  },
];

const RESPONSES: JsonObject = {
  '2XX': {
    description:
      'Received. Of a body at most 64 KiB are read, and its start is kept in the log of deliveries.',
  },
  '410': { description: 'Gone for good: the subscription is disabled, and nothing is sent again.' },
  '429': { description: 'Tried again, not before `Retry-After` (at most 24 hours).' },
  '503': { description: 'Tried again, not before `Retry-After` (at most 24 hours).' },
  default: {
    description:
      'Not received, as when the connection fails or no answer comes within 15 seconds; redirects are not followed. Tried again on the schedule of retries.',
  },
};

/** The `webhooks` of the document: an entry for each event type, and the ping. */
export function webhooksOf(
  eventTypes: readonly EventType[],
  environment: EnvironmentName,
  schemas: NamedSchemas,
): JsonObject {
  const nameOf = dataNames(eventTypes);
  return Object.fromEntries(
    [...eventTypes, PING as Described].map((type) => [
      type.name,
      { post: delivery(type, nameOf(type), environment, schemas) },
    ]),
  );
}

function delivery(
  { name, description, dataSchema, dataExample }: Described,
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
    timestamp: { type: 'string', format: 'date-time', description: 'When it happened, in UTC.' },
    environment: { type: 'string', enum: ['live', 'test'], description: 'The environment it happened in.' },
    requestId: { type: 'string', description: 'The request that caused it; quote it to support.' },
    sequence: {
      type: 'integer',
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Rises with each event of the same object, so that events can be put in order.',
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

/** Names of the schemas of `data`: one for the noun where all its events have the same, else one for each event. */
function dataNames(eventTypes: readonly EventType[]): (type: Described) => string {
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
