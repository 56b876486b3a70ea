import { Type } from 'typebox';
import { ENVIRONMENTS } from '../../services/platform/tenant.ts';
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
  ACTIVE: 'a delivery has succeeded, and none has exhausted its retries since.',
  PENDING: 'new, reactivated or with a new URL; events are delivered, but none has succeeded yet.',
  ERROR:
    'a delivery has exhausted its retries; the next success makes it ACTIVE. Set an alert for this state.',
  DISABLED: 'no events are delivered.',
} as const;
const CURSOR =
  'MXwyMDI2LTExLTIxVDEwOjUwOjA1LjQ1OFp8MDFhMWZkYmEtNDUxMi03MmJiLThkZTMtYjJjN2U1MWIxZTJl0pRsYjfS7Ccm6jYa';

const eventType = Type.String({
  description: 'Name of an event type.',
  examples: ['refund.requested.v1'],
});

const webhookSubscription = resource(
  'WebhookSubscription',
  'A URL that receives events. The API never returns the signing secret; the dashboard shows it once.',
  {
    id: uuid('Id of the subscription.'),
    url: Type.String({
      description: 'The URL that receives events, as serialized by the WHATWG URL parser.',
      examples: [EXAMPLE_URL],
    }),
    eventTypes: Type.Array(eventType, { description: 'Event types that are delivered.' }),
    environment: oneOf(ENVIRONMENTS, 'The environment that it belongs to; test is the sandbox.'),
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
    'Subscribes a URL to event types and sends it a signed `webhook.ping.v1`. A URL can have only one subscription. Repeating the request with the same `Idempotency-Key` and body returns the first response with `Idempotency-Replayed: true` and creates nothing.',
  tags: TAGS,
  querystring: noQuery,
  idempotent: true,
  body: resource('WebhookSubscriptionCreation', 'The URL and event types of a new subscription.', {
    url: Type.String({
      maxLength: 2048,
      'x-format': 'uri',
      description:
        'Public https URL without credentials or fragment, on port 443 or any port from 1024. Private addresses are rejected. The maximum length applies both to the URL as sent and as serialized by the WHATWG URL parser, which may percent-encode characters.',
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
  successDescription:
    'The new subscription, or the one that an earlier request with the same key and body created.',
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
    INVALID_WEBHOOK_URL:
      '/url must use https. To receive sandbox webhooks on your own machine, run npx merchant-payments listen.',
    INVALID_EVENT_TYPE:
      '/eventTypes/0: "refund.opened.v1" is not an event type; /docs lists them under Events.',
    IDEMPOTENCY_KEY_MISSING: true,
    WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS: true,
    WEBHOOK_SUBSCRIPTION_LIMIT_REACHED:
      'A merchant may have 100 webhook subscriptions per environment that are not disabled; disable one first.',
    IDEMPOTENCY_KEY_IN_USE: true,
    IDEMPOTENCY_KEY_REUSED: true,
  },
} satisfies OperationSchema;

export const webhookSubscriptionListSchema = {
  operationId: 'listWebhookSubscriptions',
  scope: 'webhooks:manage',
  summary: 'List webhook subscriptions',
  description: 'All subscriptions, including disabled ones, newest first.',
  tags: TAGS,
  querystring: closedObject({ after: cursor(200, CURSOR), limit: pageLimit(100) }),
  successDescription: 'Subscriptions, newest first; `data` is empty if there are none.',
  response: {
    200: page('WebhookSubscriptionPage', 'A page of the webhook subscriptions.', webhookSubscription, CURSOR),
  },
  links: {
    next: {
      operationId: 'listWebhookSubscriptions',
      parameters: { after: '$response.body#/nextCursor' },
      description: 'The next page, if `hasMore` is true.',
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
    'Stops delivery immediately. The subscription is kept and can be reactivated in the dashboard. Disabling a disabled subscription succeeds, so no `Idempotency-Key` is needed.',
  tags: TAGS,
  params: closedObject({ id: uuid('Id of the subscription.', SUBSCRIPTION_ID) }),
  querystring: noQuery,
  successDescription: 'The disabled subscription.',
  response: { 200: webhookSubscription },
  errors: {
    INVALID_REQUEST: "Path parameter 'id' must be a UUID.",
    UNSUPPORTED_MEDIA_TYPE: 'Header Content-Type must be a media type.',
    WEBHOOK_SUBSCRIPTION_NOT_FOUND: true,
  },
} satisfies OperationSchema;
