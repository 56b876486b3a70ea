import { type CallOptions, createClient, type Transport } from '@connectrpc/connect';
import type { FastifyRequest } from 'fastify';
import { AdvanceService } from '../proto/gen/payments/advances/v1/advances_pb.js';
import { ApiKeyService } from '../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { ProductService } from '../proto/gen/payments/catalog/v1/catalog_pb.js';
import { FundsService } from '../proto/gen/payments/funds/v1/funds_pb.js';
import { RefundCaseService } from '../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  EventService,
  WebhookListenerService,
  WebhookSubscriptionService,
} from '../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { type Caller, REQUEST_ID_HEADER } from '../services/platform/rpc/call-context.ts';
import { inTest } from '../services/platform/rpc/grants.ts';

/** The identity of the gateway and the grants it holds in the services. */
export const GATEWAY_CALLER: Caller = {
  name: 'gateway',
  grants: new Set([
    'authenticate',
    'refunds:read',
    'catalog:read',
    'funds:read',
    'advances:read',
    'webhooks:read',
    'subscriptions',
    inTest('listeners'),
  ]),
};

const DEADLINE_MS = 10_000;

/** The services behind the public API. */
export type Clients = ReturnType<typeof createClients>;

/** Creates the clients over one transport, in process or remote. */
export function createClients(transport: Transport) {
  return {
    refundCases: createClient(RefundCaseService, transport),
    products: createClient(ProductService, transport),
    funds: createClient(FundsService, transport),
    advances: createClient(AdvanceService, transport),
    webhookSubscriptions: createClient(WebhookSubscriptionService, transport),
    webhookListeners: createClient(WebhookListenerService, transport),
    events: createClient(EventService, transport),
    apiKeys: createClient(ApiKeyService, transport),
  };
}

/** Call options of an RPC made for a request: propagates the request id and sets a deadline. */
export function callFor({
  id,
}: Pick<FastifyRequest, 'id'>): CallOptions & { headers: Record<string, string> } {
  return { headers: { [REQUEST_ID_HEADER]: id }, timeoutMs: DEADLINE_MS };
}
