import type { CallOptions } from '@connectrpc/connect';
import type { FastifyRequest } from 'fastify';
import { ACTOR_HEADERS, type Caller } from '../../services/platform/rpc/call-context.ts';
import { READ_GRANTS } from '../../services/platform/rpc/grants.ts';
import { callFor } from '../clients.ts';
import { sessionTokenOf } from './session/session-cookie.ts';

/**
 * The dashboard's identity towards the services: it signs people in and reads. It writes only with the session of a person,
 * whose role the services check.
 */
export const DASHBOARD_CALLER: Caller = {
  name: 'dashboard',
  grants: new Set(['sessions', 'on-behalf-of', 'backdate', ...READ_GRANTS]),
};

/** Options of a call on behalf of the signed-in person: it carries their session. */
export function callAsPerson(request: Pick<FastifyRequest, 'id' | 'ip' | 'cookies'>): CallOptions {
  const { headers, ...options } = callFor(request);
  const actor = {
    [ACTOR_HEADERS.sessionToken]: sessionTokenOf(request) ?? '',
    [ACTOR_HEADERS.ipAddress]: request.ip,
  };
  return { ...options, headers: { ...headers, ...actor } };
}
