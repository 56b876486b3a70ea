import { type CallOptions, type Client, createClient, type Transport } from '@connectrpc/connect';
import type { FastifyRequest } from 'fastify';
import { AccountService } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { DeliveryService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { ACTOR_HEADERS, type Caller } from '../../services/platform/rpc/call-context.ts';
import { READ_GRANTS } from '../../services/platform/rpc/grants.ts';
import { type Clients, callFor, createClients } from '../clients.ts';
import { sessionTokenOf } from './session/session-cookie.ts';

/**
 * The dashboard's identity towards the services: it signs people in and reads. It writes only with the session of a person,
 * whose role the services check.
 */
export const DASHBOARD_CALLER: Caller = {
  name: 'dashboard',
  grants: new Set(['sessions', 'on-behalf-of', 'backdate', ...READ_GRANTS]),
};

/** The largest page of list RPCs, except for advance requests, and the most ids that they take. */
export const MAX_PAGE_SIZE = 100;

/** Clients of the services that the dashboard calls. */
export interface DashboardClients extends Clients {
  readonly accounts: Client<typeof AccountService>;
  readonly deliveries: Client<typeof DeliveryService>;
}

/** Creates the clients over one transport, which authenticates as DASHBOARD_CALLER. */
export function createDashboardClients(transport: Transport): DashboardClients {
  return {
    ...createClients(transport),
    accounts: createClient(AccountService, transport),
    deliveries: createClient(DeliveryService, transport),
  };
}

/** Options of a call on behalf of the signed-in person: it carries their session. */
export function callAsPerson(request: Pick<FastifyRequest, 'id' | 'ip' | 'cookies'>): CallOptions {
  const { headers, ...options } = callFor(request);
  const actor = {
    [ACTOR_HEADERS.sessionToken]: sessionTokenOf(request) ?? '',
    [ACTOR_HEADERS.ipAddress]: request.ip,
  };
  return { ...options, headers: { ...headers, ...actor } };
}
