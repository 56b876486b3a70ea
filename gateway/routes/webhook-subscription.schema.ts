import { Type } from 'typebox';
import type { OperationSchema } from './operation.ts';
import {
  closedObject,
  cursor,
  noQuery,
  oneOf,
  oneOfMeanings,
  page,
  pageLimit,
  resource,
  uuid,
} from './schemas.ts';

const TAGS = ['Webhooks'];
const SUBSCRIPTION_ID = '01a1fda3-4967-7115-8904-c76380c6a16e';
const EXAMPLE_URL = 'https://hooks.example.com/payments';
const EVENT_TYPES = ['refund.requested.v1', 'payment.succeeded.v1'];
const STATES = {
  ACTIVE: 'a delivery has succeeded, and none has failed to the end of its retries since.',
  PENDING: 'new or reactivated; events are delivered, but no delivery has succeeded yet.',
  ERROR: 'a delivery has failed to the end of its retries; the next success makes it ACTIVE. Alert on it.',
  DISABLED: 'nothing is delivered.',
} as const;
const CURSOR =
  'MXwyMDI2LTExLTIxVDEwOjUwOjA1LjQ1OFp8MDFhMWZkYmEtNDUxMi03MmJiLThkZTMtYjJjN2U1MWIxZTJl0pRsYjfS7Ccm6jYa';

const eventType = Type.String({
  description: 'Name of an event type.',
  examples: ['refund.requested.v1'],
});

const webhookSubscription = resource(
  'WebhookSubscription',
  'Where events are delivered. The signing secret is in no answer; it is shown once, in the dashboard.',
  {
    id: uuid('Id of the subscription.'),
    url: Type.String({
      description: 'Where events are delivered, as the WHATWG URL parser writes it.',
      examples: [EXAMPLE_URL],
    }),
    eventTypes: Type.Array(eventType, { description: 'Events that are delivered.' }),
    environment: oneOf(['live', 'test'], 'The environment it is of; test is the sandbox.'),
    state: oneOfMeanings(STATES, 'State of the subscription.'),
  },
  {
    id: SUBSCRIPTION_ID,
    url: EXAMPLE_URL,
    eventTypes: EVENT_TYPES,
    environment: 'live',
    state: 'PENDING',
  },
);

export const webhookSubscriptionCreateSchema = {
  operationId: 'createWebhookSubscription',
  scope: 'webhooks:manage',
  summary: 'Create a webhook subscription',
  description:
    'Subscribes a URL to event types and sends it a signed `webhook.ping.v1`. There is one subscription per URL. The same `Idempotency-Key` and body are answered as the first time, with `Idempotency-Replayed: true`, and create nothing.',
  tags: TAGS,
  querystring: noQuery,
  idempotent: true,
  body: resource('WebhookSubscriptionCreation', 'What is to be delivered, and where.', {
    url: Type.String({
      maxLength: 2048,
      'x-format': 'uri',
      description:
        'Public https URL without credentials and fragment, on port 443 or from 1024 up. Private addresses are refused. The length counts as it is sent and as the WHATWG URL parser writes it, which may percent-encode characters.',
      examples: [EXAMPLE_URL],
    }),
    eventTypes: Type.Array(Type.String({ title: 'EventType' }), {
      minItems: 1,
      maxItems: 50,
      uniqueItems: true,
      description: 'Distinct names of event types.',
      examples: [EVENT_TYPES],
    }),
  }),
  answers: 'The new subscription, or that which an earlier request with this key and body created.',
  response: { 201: webhookSubscription },
  location: true,
  links: {
    disable: {
      operationId: 'disableWebhookSubscription',
      parameters: { id: '$response.body#/id' },
      description: 'Disables the new subscription.',
    },
  },
  errors: {
    INVALID_REQUEST: '/eventTypes must be an array of 1 to 50 distinct items.',
    INVALID_WEBHOOK_URL: '/url: The url must use https.',
    INVALID_EVENT_TYPE:
      '/eventTypes/0: "refund.opened.v1" is not an event type of the catalogue; /docs lists them under Events.',
    IDEMPOTENCY_KEY_MISSING: true,
    WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS: true,
    WEBHOOK_SUBSCRIPTION_LIMIT_REACHED:
      'A merchant may have 100 webhook subscriptions that are not disabled; disable one first.',
    IDEMPOTENCY_KEY_IN_USE: true,
    IDEMPOTENCY_KEY_REUSED: true,
  },
} satisfies OperationSchema;

export const webhookSubscriptionListSchema = {
  operationId: 'listWebhookSubscriptions',
  scope: 'webhooks:manage',
  summary: 'List webhook subscriptions',
  description: 'Newest first, also disabled ones.',
  tags: TAGS,
  querystring: closedObject({ after: cursor(200, CURSOR), limit: pageLimit(100) }),
  answers: 'Subscriptions, newest first; `data` is empty where there is none.',
  response: {
    200: page('WebhookSubscriptionPage', 'A page of the webhook subscriptions.', webhookSubscription, CURSOR),
  },
  links: {
    next: {
      operationId: 'listWebhookSubscriptions',
      parameters: { after: '$response.body#/nextCursor' },
      description: 'The next page, where `hasMore` is true.',
    },
    disable: {
      operationId: 'disableWebhookSubscription',
      parameters: { id: '$response.body#/data/0/id' },
      description: 'Disables the newest subscription.',
    },
  },
  errors: {
    INVALID_REQUEST: "Query parameter 'limit' must be an integer from 1 to 100.",
    INVALID_CURSOR: true,
  },
} satisfies OperationSchema;

export const webhookSubscriptionDisableSchema = {
  operationId: 'disableWebhookSubscription',
  scope: 'webhooks:manage',
  summary: 'Disable a webhook subscription',
  description:
    'Delivery stops at once; the subscription is kept and can be reactivated in the dashboard. Disabling twice is no error, so no `Idempotency-Key` is needed.',
  tags: TAGS,
  params: closedObject({ id: uuid('Id of the subscription.', SUBSCRIPTION_ID) }),
  querystring: noQuery,
  answers: 'The subscription, disabled now or before.',
  response: { 200: webhookSubscription },
  errors: {
    INVALID_REQUEST: "Path parameter 'id' must be a UUID.",
    UNSUPPORTED_MEDIA_TYPE: 'Header Content-Type must be a media type.',
    WEBHOOK_SUBSCRIPTION_NOT_FOUND: true,
  },
} satisfies OperationSchema;
