import { Type } from 'typebox';
import { closedObject, cursor, noQuery, oneOf, page, pageLimit, uuid } from '../schemas.ts';

const TAGS = ['Webhooks'];

const webhookSubscription = closedObject(
  {
    id: uuid('Id of the subscription.'),
    url: Type.String({ description: 'Where events are delivered, as the WHATWG URL parser writes it.' }),
    eventTypes: Type.Array(Type.String(), { description: 'Events that are delivered.' }),
    environment: oneOf(['live', 'test'], 'The environment it is of.'),
    state: oneOf(['ACTIVE', 'PENDING', 'ERROR', 'DISABLED'], 'State of the subscription.'),
  },
  'Where events are delivered. The signing secret is shown once, in the dashboard.',
);

export const webhookSubscriptionCreateSchema = {
  operationId: 'createWebhookSubscription',
  summary: 'Create a webhook subscription',
  description:
    'Takes an Idempotency-Key. The same key and body answer as the first time, with Idempotency-Replayed: true.',
  tags: TAGS,
  querystring: noQuery,
  body: closedObject({
    url: Type.String({
      maxLength: 2048,
      description: 'Public HTTPS URL.',
      examples: ['https://shop.example/hooks'],
    }),
    eventTypes: Type.Array(Type.String(), {
      minItems: 1,
      maxItems: 50,
      uniqueItems: true,
      description: 'Distinct names of event types.',
      examples: [['refund.requested.v1']],
    }),
  }),
  response: { 201: webhookSubscription },
};

export const webhookSubscriptionListSchema = {
  operationId: 'listWebhookSubscriptions',
  summary: 'List webhook subscriptions',
  description: 'Newest first, also disabled ones.',
  tags: TAGS,
  querystring: closedObject({ after: cursor(200), limit: pageLimit(100) }),
  response: { 200: page(webhookSubscription) },
};

export const webhookSubscriptionDisableSchema = {
  operationId: 'disableWebhookSubscription',
  summary: 'Disable a webhook subscription',
  description: 'Delivery stops at once; the subscription is kept. Disabling twice is no error.',
  tags: TAGS,
  params: closedObject({ id: uuid('Id of the subscription.') }),
  querystring: noQuery,
  response: { 200: webhookSubscription },
};
