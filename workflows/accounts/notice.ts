import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import {
  type AccountService,
  type Invitation,
  Language,
} from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  type WebhookSubscription,
  type WebhookSubscriptionService,
  WebhookSubscriptionState,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { NotifyContactInput } from '../../services/contracts/accounts/notify-contact.contract.ts';
import { environmentEnum } from '../../services/platform/tenant.ts';

export interface NoticeClients {
  readonly accounts: Client<typeof AccountService>;
  readonly subscriptions: Client<typeof WebhookSubscriptionService>;
}

/** What is to be written, and to whom. */
export interface Notice {
  readonly subject: NoticeSubject;
  readonly happenedAt: Date;
  readonly emails: readonly string[];
  readonly language: 'pt-BR' | 'en';
}

export type NoticeSubject =
  | { readonly kind: 'WEBHOOK_ERROR' | 'WEBHOOK_GONE'; readonly subscription: WebhookSubscription }
  | { readonly kind: 'INVITATION'; readonly invitation: Invitation };

const CALL = { timeoutMs: 10_000 };
const PAGE_SIZE = 100;

/** Reads what there is to write as it is at this moment; undefined where it is over. Throws what the services refuse. */
export async function readNotice(
  clients: NoticeClients,
  input: NotifyContactInput,
): Promise<Notice | undefined> {
  const tenant = { merchantId: input.merchantId, environment: environmentEnum(input.environment) };
  const subject = await subjectOf(clients, input, tenant);
  if (!subject) return undefined;
  const contact = await clients.accounts.getMerchantContact(tenant, CALL);
  const language = contact.language === Language.EN ? 'en' : 'pt-BR';
  if (subject.kind === 'INVITATION') {
    const { email, createdAt } = subject.invitation;
    return { subject, happenedAt: timestampDate(createdAt!), emails: [email], language };
  }
  const happenedAt = timestampDate(subject.subscription.errorAt!);
  return { subject, happenedAt, emails: contact.emails, language };
}

type TenantRequest = { merchantId: string; environment: ReturnType<typeof environmentEnum> };

async function subjectOf(
  { accounts, subscriptions }: NoticeClients,
  { kind, subjectId }: NotifyContactInput,
  tenant: TenantRequest,
): Promise<NoticeSubject | undefined> {
  switch (kind) {
    case 'WEBHOOK_ERROR':
    case 'WEBHOOK_GONE': {
      const request = { ...tenant, subscriptionId: subjectId };
      const { subscription } = await subscriptions.getWebhookSubscription(request, CALL);
      return subscription && troubleOf(subscription) === kind ? { kind, subscription } : undefined;
    }
    case 'INVITATION': {
      const invitation = await openInvitation(accounts, tenant, subjectId);
      return invitation && { kind, invitation };
    }
    default:
      return kind satisfies never;
  }
}

/** One that a person disabled keeps the error it had before. */
function troubleOf({
  state,
  errorAt,
  disabledAt,
}: WebhookSubscription): NotifyContactInput['kind'] | undefined {
  if (state === WebhookSubscriptionState.ERROR) return 'WEBHOOK_ERROR';
  const isGone = state === WebhookSubscriptionState.DISABLED && isSame(errorAt, disabledAt);
  return isGone ? 'WEBHOOK_GONE' : undefined;
}

const isSame = (a: Timestamp | undefined, b: Timestamp | undefined) =>
  a !== undefined && b !== undefined && a.seconds === b.seconds && a.nanos === b.nanos;

/** A merchant has five hundred of them at most. */
async function openInvitation(
  accounts: NoticeClients['accounts'],
  tenant: TenantRequest,
  id: string,
): Promise<Invitation | undefined> {
  for (let pageToken = ''; ; ) {
    const request = { ...tenant, pageSize: PAGE_SIZE, pageToken };
    const { invitations, nextPageToken } = await accounts.listInvitations(request, CALL);
    const found = invitations.find((invitation) => invitation.id === id);
    if (found || nextPageToken === '') return found;
    pageToken = nextPageToken;
  }
}
