import {
  type WebhookSubscription,
  WebhookSubscriptionState,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { enumName } from '../../services/platform/enum-name.ts';
import { REPLAYED_HEADER } from '../../services/platform/rpc/call-context.ts';
import { environmentName } from '../../services/platform/tenant.ts';
import { callFor } from '../clients.ts';
import type { GatewayApp, RouteDependencies } from '../gateway-app.ts';
import { pageJson, pageRequest } from '../http/pages.ts';
import { Problem } from '../problems/problem.ts';
import { invalidEventType } from '../problems/rpc-problems.ts';
import { operation } from './operation.ts';
import {
  webhookSubscriptionCreateSchema,
  webhookSubscriptionDisableSchema,
  webhookSubscriptionListSchema,
} from './webhook-subscription.schema.ts';

const PATH = '/v1/webhook-subscriptions';
const MAX_EVENT_TYPE_LENGTH = 100;

/** POST and GET /v1/webhook-subscriptions, POST /v1/webhook-subscriptions/{id}/disable */
export function webhooksRoutes(app: GatewayApp, dependencies: RouteDependencies): void {
  createRoute(app, dependencies);
  listRoute(app, dependencies);
  disableRoute(app, dependencies);
}

function createRoute(app: GatewayApp, { clients, access }: RouteDependencies): void {
  app.post(PATH, operation(access, webhookSubscriptionCreateSchema), async (request, reply) => {
    const { url, eventTypes } = request.body;
    rejectInvalidText(url, eventTypes);
    let replayed: string | null = null;
    const { subscription } = await clients.webhookSubscriptions.createWebhookSubscription(
      { ...request.caller.tenant, idempotencyKey: request.idempotencyKey, url, eventTypes },
      {
        ...callFor(request),
        onHeader: (headers) => {
          replayed = headers.get(REPLAYED_HEADER);
        },
      },
    );
    if (replayed === 'true') reply.header('idempotency-replayed', 'true');
    const record = subscriptionJson(subscription!);
    return reply.code(201).header('location', `${PATH}/${record.id}`).send(record);
  });
}

function listRoute(app: GatewayApp, { clients, access }: RouteDependencies): void {
  app.get(PATH, operation(access, webhookSubscriptionListSchema), async (request) => {
    const { subscriptions, nextPageToken } = await clients.webhookSubscriptions.listWebhookSubscriptions(
      { ...request.caller.tenant, ...pageRequest(request.query) },
      callFor(request),
    );
    return pageJson(subscriptions.map(subscriptionJson), nextPageToken);
  });
}

function disableRoute(app: GatewayApp, { clients, access }: RouteDependencies): void {
  app.post(`${PATH}/:id/disable`, operation(access, webhookSubscriptionDisableSchema), async (request) => {
    const { subscription } = await clients.webhookSubscriptions.disableWebhookSubscription(
      {
        ...request.caller.tenant,
        // Disabling is idempotent by itself, so a fresh key per request is enough.
        idempotencyKey: request.id,
        subscriptionId: request.params.id.toLowerCase(),
      },
      callFor(request),
    );
    return subscriptionJson(subscription!);
  });
}

const isText = (value: string) => value !== '' && value.isWellFormed() && !value.includes('\0');

/** Rejects text that services cannot accept: lone surrogates, NUL, and entries that cannot be event type names. */
function rejectInvalidText(url: string, eventTypes: readonly string[]): void {
  if (!isText(url)) {
    throw new Problem('INVALID_WEBHOOK_URL', '/url must be a public https URL.');
  }
  const index = eventTypes.findIndex((type) => !isText(type) || type.length > MAX_EVENT_TYPE_LENGTH);
  if (index >= 0) throw invalidEventType(`/eventTypes/${index}`, eventTypes[index]!);
}

function subscriptionJson(subscription: WebhookSubscription) {
  return {
    id: subscription.id,
    url: subscription.url,
    eventTypes: subscription.eventTypes,
    environment: environmentName(subscription.environment),
    state: enumName(WebhookSubscriptionState, subscription.state),
  };
}
