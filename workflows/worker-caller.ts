import type { Caller } from '../services/platform/rpc/call-context.ts';

/** The worker as a caller of the services, with the grants of its activities and its relay. */
export const WORKER_CALLER: Caller = {
  name: 'worker',
  grants: new Set([
    'dispatch',
    'operations',
    'saga',
    'refunds:read',
    'refunds:write',
    'funds:read',
    'funds:write',
    'advances:read',
    'advances:write',
    // Canceling a retry workflow in the Temporal UI cancels its delivery.
    'webhooks:write',
    // For mail to merchants' contacts and members, and to invited people.
    'accounts:read',
    'webhooks:read',
    'keys:read',
  ]),
};
