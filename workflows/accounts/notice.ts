import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import {
  type AccountService,
  type Invitation,
  Language as MailLanguage,
  MailTopic,
} from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import type { ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import type { FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { RefundCaseService } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  type WebhookSubscription,
  type WebhookSubscriptionService,
  WebhookSubscriptionState,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { NotifyContactInput } from '../../services/contracts/accounts/notify-contact.contract.ts';
import { enumName } from '../../services/platform/enum-name.ts';
import { pagesOf } from '../../services/platform/rpc/pages-of.ts';
import { type TenantFields, tenantFields } from '../../services/platform/tenant.ts';
import { type DeadlineSubject, findDueDispute, findDueRefunds } from './deadline-notice.ts';
import { type DebtSubject, findUncoveredDebts } from './debt-notice.ts';
import { type ExpiringKeySubject, findExpiringKey } from './key-notice.ts';
import { inOneLine, type Language } from './mail-format.ts';
import {
  findBlockedRefunds,
  findEndedDispute,
  findHeldFunds,
  findRefundOutcome,
  findRefusedAdvance,
  findReviewedRefund,
  findUnpaidAdvance,
  type OutcomeSubject,
} from './outcome-notice.ts';

export interface NoticeClients {
  readonly accounts: Client<typeof AccountService>;
  readonly subscriptions: Client<typeof WebhookSubscriptionService>;
  readonly refunds: Client<typeof RefundCaseService>;
  readonly funds: Client<typeof FundsService>;
  readonly advances: Client<typeof AdvanceService>;
  readonly apiKeys: Client<typeof ApiKeyService>;
}

/** A notice that is due, and its recipients. */
export interface Notice {
  readonly subject: NoticeSubject;
  readonly happenedAt: Date;
  readonly emails: readonly string[];
  readonly language: Language;
  /** The merchant's name, or else its id. */
  readonly merchant: string;
}

export type NoticeSubject =
  | {
      readonly kind: 'WEBHOOK_FAILING' | 'WEBHOOK_ERROR' | 'WEBHOOK_GONE';
      readonly subscription: WebhookSubscription;
    }
  | { readonly kind: 'INVITATION'; readonly invitation: Invitation }
  | DeadlineSubject
  | DebtSubject
  | ExpiringKeySubject
  | OutcomeSubject;

const TOPICS = {
  REFUND_DEADLINES: MailTopic.REFUND_DEADLINES,
  DISPUTE_DUE: MailTopic.DISPUTE_DEADLINES,
  DEBTS: MailTopic.DEBTS,
  API_KEY_EXPIRING: MailTopic.API_KEYS,
  REFUND_UNFUNDED: MailTopic.REFUND_DEADLINES,
  REFUND_FAILED: MailTopic.REFUND_DEADLINES,
  REFUND_REVIEWED: MailTopic.REFUND_DEADLINES,
  REFUNDS_BLOCKED: MailTopic.REFUND_DEADLINES,
  DISPUTE_ENDED: MailTopic.DISPUTE_DEADLINES,
  ADVANCE_REFUSED: MailTopic.ADVANCES,
  ADVANCE_UNPAID: MailTopic.ADVANCES,
  FUNDS_HELD: MailTopic.DEBTS,
} as const;
const LANGUAGES = { PT_BR: 'pt-BR', EN: 'en' } as const;

/**
 * Reads the notice in its current state; undefined when it is no longer due, for example because the subscription has
 * recovered or the invitation has been accepted. Throws the services' errors.
 */
export async function readNotice(
  clients: NoticeClients,
  input: NotifyContactInput,
): Promise<Notice | undefined> {
  const tenant = tenantFields(input);
  const subject = await findSubject(clients, input, tenant);
  if (!subject) return undefined;
  const contact = await clients.accounts.getMerchantContact(tenant);
  const merchant = inOneLine(contact.merchantName) || input.merchantId;
  const language = LANGUAGES[input.language ?? enumName(MailLanguage, contact.language)];
  if (subject.kind === 'INVITATION') {
    const { email, createdAt } = subject.invitation;
    return { subject, happenedAt: timestampDate(createdAt!), emails: [email], language, merchant };
  }
  if ('happenedAt' in subject) {
    const topic = TOPICS[subject.kind];
    const { emails } = await clients.accounts.listMailRecipients({ ...tenant, topic });
    return { subject, happenedAt: subject.happenedAt, emails, language, merchant };
  }
  const { health, error } = subject.subscription;
  const since = subject.kind === 'WEBHOOK_FAILING' ? health!.failingSince! : error!.since!;
  return { subject, happenedAt: timestampDate(since), emails: contact.emails, language, merchant };
}

async function findSubject(
  { accounts, subscriptions, refunds, funds, advances, apiKeys }: NoticeClients,
  { kind, subjectId }: NotifyContactInput,
  tenant: TenantFields,
): Promise<NoticeSubject | undefined> {
  switch (kind) {
    case 'WEBHOOK_FAILING':
    case 'WEBHOOK_ERROR':
    case 'WEBHOOK_GONE': {
      const request = { ...tenant, subscriptionId: subjectId, withHealth: true };
      const { subscription } = await subscriptions.getWebhookSubscription(request);
      return subscription && noticeKindOf(subscription) === kind ? { kind, subscription } : undefined;
    }
    case 'INVITATION': {
      const invitation = await findOpenInvitation(accounts, tenant, subjectId);
      return invitation && { kind, invitation };
    }
    case 'REFUND_DEADLINES':
      return findDueRefunds(refunds, tenant);
    case 'DISPUTE_DUE':
      return findDueDispute(refunds, tenant, subjectId);
    case 'DEBTS':
      return findUncoveredDebts(funds, tenant);
    case 'API_KEY_EXPIRING':
      return findExpiringKey(apiKeys, tenant, subjectId);
    case 'REFUND_UNFUNDED':
    case 'REFUND_FAILED':
      return findRefundOutcome(refunds, tenant, subjectId, kind);
    case 'REFUND_REVIEWED':
      return findReviewedRefund(refunds, tenant, subjectId);
    case 'REFUNDS_BLOCKED':
      return findBlockedRefunds(refunds, tenant);
    case 'DISPUTE_ENDED':
      return findEndedDispute(refunds, tenant, subjectId);
    case 'ADVANCE_REFUSED':
      return findRefusedAdvance(advances, tenant, subjectId);
    case 'ADVANCE_UNPAID':
      return findUnpaidAdvance(advances, tenant, subjectId);
    case 'FUNDS_HELD':
      return findHeldFunds(funds, tenant);
    default:
      return kind satisfies never;
  }
}

/**
 * A 410 sets the error's `since` and `disabledAt` to the same time. A subscription that a person disabled keeps an earlier
 * error.
 */
function noticeKindOf({
  state,
  error,
  disabledAt,
  health,
}: WebhookSubscription): NotifyContactInput['kind'] | undefined {
  if (state === WebhookSubscriptionState.ERROR) return 'WEBHOOK_ERROR';
  if (health?.failingSince) return 'WEBHOOK_FAILING';
  const isGone = state === WebhookSubscriptionState.DISABLED && isSameTime(error?.since, disabledAt);
  return isGone ? 'WEBHOOK_GONE' : undefined;
}

const isSameTime = (a: Timestamp | undefined, b: Timestamp | undefined) =>
  a !== undefined && b !== undefined && a.seconds === b.seconds && a.nanos === b.nanos;

/** Reads at most five pages: a merchant has no more than 500 open invitations. */
async function findOpenInvitation(
  accounts: NoticeClients['accounts'],
  tenant: TenantFields,
  id: string,
): Promise<Invitation | undefined> {
  for await (const { invitations } of pagesOf((page) => accounts.listInvitations({ ...tenant, ...page }))) {
    const found = invitations.find((invitation) => invitation.id === id);
    if (found) return found;
  }
  return undefined;
}
