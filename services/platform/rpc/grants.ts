import type { DescMethod } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';

/** RPCs and services that require a standalone grant instead of their area's read or write grant. */
const SPECIAL_GRANTS: Readonly<Record<string, string>> = {
  'payments.webhooks.v1.DispatchService': 'dispatch',
  'payments.outbox.v1.WorkflowCommandService': 'dispatch',
  'payments.webhooks.v1.WebhookSubscriptionService.RevealSigningSecret': 'reveal',
  'payments.advances.v1.AdvanceService.RecordPayoutAnswer': 'saga',
  'payments.apikeys.v1.ApiKeyService': 'keys',
  'payments.apikeys.v1.ApiKeyService.AuthenticateApiKey': 'authenticate',
  ...Object.fromEntries(
    [
      'StartSession',
      'AuthenticateSession',
      'EndSession',
      'EndAllSessions',
      'ListSessions',
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
  'saga',
  'sessions',
  'on-behalf-of',
] as const;

/** The areas with read and write grants. */
export const GRANT_AREAS = ['refunds', 'catalog', 'funds', 'advances', 'webhooks', 'accounts'] as const;

const memo = new Map<DescMethod, string | undefined>();

/** The grant that a method requires; undefined for health and reflection, which are open to all. */
export function requiredGrant(method: DescMethod): string | undefined {
  if (!memo.has(method)) memo.set(method, decide(method));
  return memo.get(method);
}

function decide(method: DescMethod): string | undefined {
  const service = method.parent.typeName;
  const special = SPECIAL_GRANTS[`${service}.${method.name}`] ?? SPECIAL_GRANTS[service];
  if (special) return special;
  const [root, area] = service.split('.');
  if (root !== 'payments' || area === undefined) return undefined;
  const reads = method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  return `${area}:${reads ? 'read' : 'write'}`;
}
