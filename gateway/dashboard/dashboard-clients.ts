import { type CallOptions, type Client, createClient, type Transport } from '@connectrpc/connect';
import type { FastifyRequest } from 'fastify';
import { AccountService } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { DeliveryService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { ACTOR_HEADERS, type Caller } from '../../services/platform/rpc/call-context.ts';
import { type Clients, callFor, createClients } from '../clients.ts';
import type { Person } from './shell/view.ts';

const AREAS = ['refunds', 'catalog', 'funds', 'advances', 'webhooks', 'accounts'];

/** The dashboard's identity towards the services: it acts on behalf of people, with the grants of the most powerful role. */
export const DASHBOARD_CALLER: Caller = {
  name: 'dashboard',
  grants: new Set([
    'sessions',
    'on-behalf-of',
    'keys',
    'reveal',
    'backdate',
    ...AREAS.flatMap((area) => [`${area}:read`, `${area}:write`]),
  ]),
};

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

/** Options of a call on behalf of a signed-in person: the audit trail names them. */
export function callAs(
  { accountId }: Pick<Person, 'accountId'>,
  request: Pick<FastifyRequest, 'id' | 'ip'>,
): CallOptions {
  const { headers, ...options } = callFor(request);
  const actor = { [ACTOR_HEADERS.accountId]: accountId, [ACTOR_HEADERS.ipAddress]: request.ip };
  return { ...options, headers: { ...headers, ...actor } };
}
