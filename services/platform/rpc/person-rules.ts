import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { AccountService, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { ApiKeyService } from '../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { FundsService } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { RefundCaseService } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  DeliveryService,
  EventService,
  WebhookSubscriptionService,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { isAtLeast } from '../people/role.ts';
import type { EnvironmentName } from '../tenant.ts';

/** What a person needs to call an RPC. */
export interface PersonRule {
  /** The least powerful role that they need at the request's merchant; absent if any signed-in person may call it. */
  readonly role?: Role;
  /** The only environment in which they may call it; both when absent. */
  readonly environment?: EnvironmentName;
  /**
   * For RPCs with an account_id. ONLY: it must be the person's own. EXEMPT: no role is needed for the person's own.
   */
  readonly ownAccount?: 'ONLY' | 'EXEMPT';
}

const VIEWER: PersonRule = { role: Role.VIEWER };
const FINANCE: PersonRule = { role: Role.FINANCE };
const DEVELOPER: PersonRule = { role: Role.DEVELOPER };
const ADMIN: PersonRule = { role: Role.ADMIN };
/** Actions of internal teams and providers in live, which developers simulate in the sandbox. */
export const SANDBOX = { role: Role.DEVELOPER, environment: 'test' } as const satisfies PersonRule;
const OWN_ACCOUNT: PersonRule = { ownAccount: 'ONLY' };

type Rules<Service extends DescService> = { readonly [Method in keyof Service['method']]?: PersonRule };

const rules = new Map<DescMethod, PersonRule>();

function allow<Service extends DescService>(service: Service, methods: Rules<Service>): void {
  for (const [name, rule] of Object.entries<PersonRule | undefined>(methods)) {
    if (rule) rules.set(service.method[name]!, rule);
  }
}

// Every RPC that people may call with a session. The dashboard uses this table to decide which forms to show.

allow(RefundCaseService, {
  decideRefundCase: FINANCE,
  respondToDispute: FINANCE,
  addEvidence: FINANCE,
  getEvidence: VIEWER,
  exportDisputes: VIEWER,
  exportRefundCases: VIEWER,
  openRefundCase: SANDBOX,
  reviewRefundCase: SANDBOX,
  cancelRefundCase: SANDBOX,
  addBlocker: SANDBOX,
  clearBlocker: SANDBOX,
  startRefund: SANDBOX,
  recordRefundDebit: SANDBOX,
  recordProviderOutcome: SANDBOX,
  announceReviewDeadline: SANDBOX,
  expireMerchantReview: SANDBOX,
  openDispute: SANDBOX,
  recordResponseSubmission: SANDBOX,
  closeDispute: SANDBOX,
  reverseDispute: SANDBOX,
});

allow(FundsService, {
  exportFundsReleases: VIEWER,
  exportMovements: VIEWER,
  exportReleaseSales: VIEWER,
  exportSales: VIEWER,
  recordSale: SANDBOX,
  blockFunds: SANDBOX,
  unblockFunds: SANDBOX,
  releaseDueFunds: SANDBOX,
  debitForRefund: SANDBOX,
  awaitFunding: SANDBOX,
});

allow(AdvanceService, {
  exportAdvanceRequests: VIEWER,
  quoteAdvance: FINANCE,
  requestAdvance: FINANCE,
  approveAdvance: SANDBOX,
  refuseAdvance: SANDBOX,
  releaseAdvance: SANDBOX,
  settleAdvance: SANDBOX,
});

allow(WebhookSubscriptionService, {
  createWebhookSubscription: DEVELOPER,
  updateWebhookSubscription: DEVELOPER,
  deleteWebhookSubscription: DEVELOPER,
  disableWebhookSubscription: DEVELOPER,
  reactivateWebhookSubscription: DEVELOPER,
  revealSigningSecret: DEVELOPER,
  rotateSigningSecret: DEVELOPER,
  sendTestEvent: DEVELOPER,
});

allow(DeliveryService, {
  retryDelivery: DEVELOPER,
  cancelDelivery: DEVELOPER,
  resendDeliveries: DEVELOPER,
  cancelResend: DEVELOPER,
});

allow(EventService, { publishEvent: SANDBOX });

allow(ApiKeyService, {
  listApiKeys: DEVELOPER,
  issueApiKey: DEVELOPER,
  rotateApiKey: DEVELOPER,
  revokeApiKey: DEVELOPER,
});

allow(AccountService, {
  inviteMember: ADMIN,
  revokeInvitation: ADMIN,
  changeMemberRole: ADMIN,
  removeMember: { ...ADMIN, ownAccount: 'EXEMPT' },
  setMerchantContact: ADMIN,
  acceptInvitation: OWN_ACCOUNT,
  endSession: OWN_ACCOUNT,
  endAllSessions: OWN_ACCOUNT,
  setMailPreferences: OWN_ACCOUNT,
});

/** What a person needs to call an RPC; undefined if only services may call it. */
export const personRule = (method: DescMethod): PersonRule | undefined => rules.get(method);

/** Whether a role at a merchant suffices to call an RPC there. */
export function mayCall(role: Role, environment: EnvironmentName, method: DescMethod): boolean {
  const rule = personRule(method);
  if (!rule || environment !== (rule.environment ?? environment)) return false;
  return isAtLeast(role, rule.role ?? Role.UNSPECIFIED);
}
