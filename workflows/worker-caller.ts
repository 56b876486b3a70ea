import type { Caller } from '../services/platform/rpc/call-context.ts';

/** Who the worker is to the services, and all that its activities and its dispatcher may do there. */
export const WORKER_CALLER: Caller = {
  name: 'worker',
  grants: new Set([
    ...['dispatch', 'operations'],
    ...['refunds:read', 'refunds:write', 'funds:read', 'funds:write', 'advances:read', 'advances:write'],
    // Whoever cancels a retry workflow in the Temporal UI cancels its delivery.
    'webhooks:write',
    // Mail to merchants' contacts, about webhooks and to whom they invite.
    ...['accounts:read', 'webhooks:read'],
  ]),
};
