import type { DescMethod, Message } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { permissionDenied } from '../errors.ts';
import { rpcName } from './rpc-name.ts';

/** The grant of PublishEvent and PublishEvents, which depends on the types of the events. */
const PUBLISH = 'publish:<noun>';

/** RPCs and services that require another grant than their area's read or write grant. */
const SPECIAL_GRANTS: Readonly<Record<string, string>> = {
  'payments.webhooks.v1.DispatchService': 'dispatch',
  'payments.webhooks.v1.WebhookListenerService': 'listeners',
  'payments.outbox.v1.WorkflowCommandService': 'dispatch',
  'payments.webhooks.v1.WebhookSubscriptionService.RevealSigningSecret': 'reveal',
  ...inService('payments.webhooks.v1.WebhookSubscriptionService', 'subscriptions', [
    'CreateWebhookSubscription',
    'UpdateWebhookSubscription',
    'DeleteWebhookSubscription',
    'DisableWebhookSubscription',
    'ReactivateWebhookSubscription',
    'RotateSigningSecret',
    'SendTestEvent',
  ]),
  ...inService('payments.webhooks.v1.EventService', PUBLISH, ['PublishEvent', 'PublishEvents']),
  'payments.servicetokens.v1.ServiceTokenService': 'tokens',
  'payments.apikeys.v1.ApiKeyService': 'keys',
  'payments.apikeys.v1.ApiKeyService.ListApiKeys': 'keys:read',
  'payments.apikeys.v1.ApiKeyService.AuthenticateApiKey': 'authenticate',
  ...inService('payments.refunds.v1.RefundCaseService', 'saga', [
    'AnnounceReviewDeadline',
    'ExpireMerchantReview',
    'BeginRefundExecution',
    'RecordRefundDebit',
  ]),
  ...inService('payments.funds.v1.FundsService', 'saga', [
    'ReserveForAdvance',
    'FreeReservation',
    'SettleReservation',
    'DebitForRefund',
    'ReverseRefundDebit',
    'AwaitFunding',
    'EndFundingWait',
    'EndRefundExecutions',
    'FindCoveredRefund',
  ]),
  ...inService('payments.refunds.v1.RefundCaseService', 'operations', [
    'ListRefundCaseQueue',
    'ListDisputeQueue',
    'ListProviderQueue',
  ]),
  ...inService('payments.advances.v1.AdvanceService', 'operations', [
    'ListAdvanceQueue',
    'ListProviderQueue',
  ]),
  ...inService('payments.funds.v1.FundsService', 'operations', ['ListVerificationQueue', 'ListDebtQueue']),
  ...inService('payments.webhooks.v1.EventService', 'operations', ['ListEventFeed', 'GetEventFeed']),
  ...inService('payments.accounts.v1.AccountService', 'sessions', [
    'StartSession',
    'AuthenticateSession',
    'EndSession',
    'EndAllSessions',
    'ListSessions',
    'ListAccountInvitations',
  ]),
};

function inService(service: string, grant: string, rpcs: readonly string[]): Record<string, string> {
  return Object.fromEntries(rpcs.map((rpc) => [`${service}.${rpc}`, grant]));
}

/** RPCs that concern no merchant, so that a grant limited to the test environment covers them. */
const WITHOUT_MERCHANT: ReadonlySet<string> = new Set(['payments.webhooks.v1.EventService.ListEventTypes']);

/** The nouns that event types start with. */
export const EVENT_NOUNS = ['payment', 'refund', 'dispute', 'product', 'funds', 'advance'] as const;

/** The areas with read and write grants. */
const AREAS = ['refunds', 'catalog', 'funds', 'advances', 'webhooks', 'accounts'] as const;

/** `<area>:read` of every area. */
export const READ_GRANTS: readonly string[] = AREAS.map((area) => `${area}:read`);

/** `<area>:read` and `<area>:write` of every area. */
export const AREA_GRANTS: readonly string[] = [...READ_GRANTS, ...AREAS.map((area) => `${area}:write`)];

/** `publish:<noun>` of every noun. */
export const PUBLISH_GRANTS: readonly string[] = EVENT_NOUNS.map((noun) => `publish:${noun}`);

/** Every grant, without those that are limited to the test environment. */
export const ALL_GRANTS: readonly string[] = [
  'dispatch',
  'reveal',
  'subscriptions',
  'listeners',
  'keys',
  'keys:read',
  'tokens',
  'authenticate',
  'operations',
  'backdate',
  'saga',
  'sessions',
  'on-behalf-of',
  ...AREA_GRANTS,
  ...PUBLISH_GRANTS,
];

/** The grant, limited to requests that name a merchant and the test environment. */
export const inTest = (grant: string): string => `${grant}:test`;

/**
 * The grants that can be limited to the test environment. Those of accounts cannot: members and invitations belong to a
 * merchant in both environments, whichever one a request names.
 */
const LIMITABLE_GRANTS: ReadonlySet<string> = new Set(
  [...AREA_GRANTS, ...PUBLISH_GRANTS, 'subscriptions', 'listeners', 'saga'].filter(
    (grant) => !grant.startsWith('accounts:'),
  ),
);

const KNOWN_GRANTS: ReadonlySet<string> = new Set([...ALL_GRANTS, ...[...LIMITABLE_GRANTS].map(inTest)]);

/** Whether a caller can hold a grant of this name. */
export const isGrant = (name: string): boolean => KNOWN_GRANTS.has(name);

const requiredGrants = new Map<DescMethod, string | undefined>();

/**
 * The grant that a method requires, `publish:<noun>` for those that publish; undefined for health and reflection, which are
 * open to all.
 */
export function requiredGrant(method: DescMethod): string | undefined {
  if (!requiredGrants.has(method)) requiredGrants.set(method, grantOf(method));
  return requiredGrants.get(method);
}

function grantOf(method: DescMethod): string | undefined {
  const service = method.parent.typeName;
  const special = SPECIAL_GRANTS[rpcName(method)] ?? SPECIAL_GRANTS[service];
  if (special) return special;
  const [root, area] = service.split('.');
  if (root !== 'payments' || area === undefined) return undefined;
  return `${area}:${isRead(method) ? 'read' : 'write'}`;
}

/** Whether a method changes nothing. */
export const isRead = ({ idempotency }: DescMethod): boolean =>
  idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;

/** PERMISSION_DENIED: the caller does not hold this grant. */
export const grantMissing = (grant: string) =>
  permissionDenied('GRANT_MISSING', `this call requires the grant ${grant}`, { grant });

/** Narrow grants, each with the grant that includes it. */
export const PART_OF: Readonly<Record<string, string>> = {
  subscriptions: 'webhooks:write',
  'keys:read': 'keys',
};

const holds = (grants: ReadonlySet<string>, grant: string): boolean =>
  grants.has(grant) || grants.has(PART_OF[grant] ?? grant);

const holdsInTest = (grants: ReadonlySet<string>, grant: string): boolean =>
  LIMITABLE_GRANTS.has(grant) && (grants.has(inTest(grant)) || grants.has(inTest(PART_OF[grant] ?? grant)));

/** The grant that is missing for a call with this request, or for a stream with this first message. */
export function missingGrant(
  method: DescMethod,
  request: Message,
  grants: ReadonlySet<string>,
): string | undefined {
  const grant = requiredGrant(method);
  if (grant === undefined || holds(grants, grant)) return undefined;
  const isMissing = (exact: string) =>
    !holds(grants, exact) && !(holdsInTest(grants, exact) && isTestRequest(method, request));
  if (grant !== PUBLISH) return isMissing(grant) ? grant : undefined;
  return publishGrants(request, grants).find(isMissing);
}

/** The grant that is missing for every request of a stream. */
export function missingForStream(method: DescMethod, grants: ReadonlySet<string>): string | undefined {
  const grant = requiredGrant(method);
  return grant === undefined || holds(grants, grant) || holdsInTest(grants, grant) ? undefined : grant;
}

/** The grants for the types of the events that a request publishes. */
function publishGrants(request: Message, grants: ReadonlySet<string>): string[] {
  const { type, events } = request as { type?: string; events?: readonly { type: string }[] };
  const types = new Set(events?.length ? events.map((event) => event.type) : [type ?? '']);
  return [...types].flatMap((name) => publishGrant(name, grants) ?? []);
}

/** The grant for an event of this type; undefined for an unknown type, which the RPC itself refuses. */
function publishGrant(type: string, grants: ReadonlySet<string>): string | undefined {
  const [noun = ''] = type.split('.');
  if (PUBLISH_GRANTS.includes(`publish:${noun}`)) return `publish:${noun}`;
  return PUBLISH_GRANTS.some((grant) => grants.has(grant) || grants.has(inTest(grant))) ? undefined : PUBLISH;
}

/** Without a merchant, some requests span merchants and environments, whatever environment they name. */
function isTestRequest(method: DescMethod, request: Message): boolean {
  const { merchantId, environment } = request as { merchantId?: string; environment?: Environment };
  return (Boolean(merchantId) && environment === Environment.TEST) || WITHOUT_MERCHANT.has(rpcName(method));
}
