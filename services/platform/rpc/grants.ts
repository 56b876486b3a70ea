import type { DescMethod } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';

/** RPCs and services whose use takes a grant of its own instead of their area's read or write. */
const OWN_GRANTS: Readonly<Record<string, string>> = {
  'payments.webhooks.v1.DispatchService': 'dispatch',
  'payments.outbox.v1.WorkflowCommandService': 'dispatch',
  'payments.webhooks.v1.WebhookSubscriptionService.RevealSigningSecret': 'reveal',
  'payments.apikeys.v1.ApiKeyService': 'keys',
  'payments.apikeys.v1.ApiKeyService.AuthenticateApiKey': 'authenticate',
  ...Object.fromEntries(
    [
      ...['StartSession', 'AuthenticateSession', 'EndSession', 'EndAllSessions', 'ListSessions'],
      'ListAccountInvitations',
    ].map((rpc) => [`payments.accounts.v1.AccountService.${rpc}`, 'sessions']),
  ),
};

/** Grants that stand alone, beside `<area>:read` and `<area>:write`. */
export const STANDALONE_GRANTS = [
  'dispatch',
  'reveal',
  'keys',
  'authenticate',
  'operations',
  'backdate',
  'sessions',
  'on-behalf-of',
] as const;

/** The areas whose reads and writes are granted. */
export const GRANT_AREAS = ['refunds', 'catalog', 'funds', 'advances', 'webhooks', 'accounts'] as const;

const memo = new Map<DescMethod, string | undefined>();

/** The grant that a method takes: undefined for health and reflection, which anybody may call. */
export function requiredGrant(method: DescMethod): string | undefined {
  if (!memo.has(method)) memo.set(method, decide(method));
  return memo.get(method);
}

function decide(method: DescMethod): string | undefined {
  const service = method.parent.typeName;
  const own = OWN_GRANTS[`${service}.${method.name}`] ?? OWN_GRANTS[service];
  if (own) return own;
  const [root, area] = service.split('.');
  if (root !== 'payments' || area === undefined) return undefined;
  const reads = method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  return `${area}:${reads ? 'read' : 'write'}`;
}
