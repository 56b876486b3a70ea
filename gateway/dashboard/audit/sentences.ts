import { type AuditEntry, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { roleName, roleTexts } from '../members/role.texts.ts';
import { textsFor, type View } from '../shell/view.ts';
import { type AuditFacts, fieldOf, idOf } from './audit-facts.ts';
import { auditedActions } from './audited-actions.texts.ts';
import { sentenceTexts } from './sentences.texts.ts';

type Texts = (typeof sentenceTexts)['en'];

interface Subject {
  readonly view: View;
  readonly entry: AuditEntry;
  readonly facts: AuditFacts;
  readonly t: Texts;
}

/** Describes an entry with the facts of its records; undefined when they are not known. */
type Describe = (subject: Subject) => string | undefined;

/** By service and RPC: the writes that people make. Others have a general description. */
const DESCRIPTIONS: Readonly<Record<string, Describe>> = {
  'RefundCaseService.DecideRefundCase': withRefund((t, entry) =>
    fieldOf(entry, 'decision') === 'MERCHANT_DECISION_KIND_APPROVED' ? t.approvedRefund : t.contestedRefund,
  ),
  'RefundCaseService.ReviewRefundCase': withRefund((t, entry) =>
    fieldOf(entry, 'decision') === 'REVIEW_DECISION_APPROVE' ? t.approvedReview : t.rejectedReview,
  ),
  'RefundCaseService.CancelRefundCase': withRefund((t) => t.canceledRefund),
  'RefundCaseService.OpenRefundCase': ({ view, entry, t }) => {
    const amount = fieldOf(entry, 'amountMinor');
    return amount && t.openedRefund(view.format.money(BigInt(amount)));
  },
  'RefundCaseService.RespondToDispute': (subject) => {
    const dispute = disputeText(subject);
    return dispute && subject.t.responded(dispute);
  },
  'RefundCaseService.AddEvidence': (subject) => {
    const record = refundText(subject) ?? disputeText(subject);
    const file = fieldOf(subject.entry, 'fileName');
    return file && record && subject.t.attached(file, record);
  },
  'AdvanceService.RequestAdvance': ({ view, entry, facts, t }) => {
    const amountMinor = facts.advances.get(idOf(entry, 'quoteId') ?? '');
    return amountMinor === undefined ? undefined : t.requestedAdvance(view.format.money(amountMinor));
  },
  'AccountService.InviteMember': ({ view, entry, t }) => {
    const email = fieldOf(entry, 'email');
    return email && t.invited(email, roleText(view, entry));
  },
  'AccountService.ChangeMemberRole': (subject) => {
    const person = personText(subject);
    return person && subject.t.changedRole(person, roleText(subject.view, subject.entry));
  },
  'AccountService.RemoveMember': (subject) => {
    const { entry, t } = subject;
    if (idOf(entry, 'accountId') === entry.accountId) return t.left;
    const person = personText(subject);
    return person && t.removed(person);
  },
  'AccountService.SetMerchantContact': ({ entry, t }) => {
    const email = fieldOf(entry, 'email');
    return email ? t.setContact(email) : t.removedContact;
  },
  'ApiKeyService.IssueApiKey': ({ entry, t }) => {
    const name = fieldOf(entry, 'name');
    return name && t.createdKey(name);
  },
  'ApiKeyService.RotateApiKey': withKey((t) => t.rotatedKey),
  'ApiKeyService.RevokeApiKey': withKey((t) => t.revokedKey),
  'WebhookSubscriptionService.CreateWebhookSubscription': ({ entry, t }) => {
    const url = fieldOf(entry, 'url');
    return url && t.createdWebhook(url);
  },
  'WebhookSubscriptionService.UpdateWebhookSubscription': withEndpoint((t) => t.updatedWebhook),
  'WebhookSubscriptionService.DeleteWebhookSubscription': withEndpoint((t) => t.deletedWebhook),
  'WebhookSubscriptionService.DisableWebhookSubscription': withEndpoint((t) => t.disabledWebhook),
  'WebhookSubscriptionService.ReactivateWebhookSubscription': withEndpoint((t) => t.reactivatedWebhook),
  'WebhookSubscriptionService.RevealSigningSecret': withEndpoint((t) => t.revealedSecret),
  'WebhookSubscriptionService.RotateSigningSecret': withEndpoint((t) => t.rotatedSecret),
  'WebhookSubscriptionService.SendTestEvent': withEndpoint((t) => t.sentTest),
};

/** The service and RPC of an entry: ApiKeyService.IssueApiKey. */
export const technicalName = ({ action }: AuditEntry): string => action.split('.').slice(-2).join('.');

/**
 * Describes an entry in a sentence: “Ana approved the refund of R$ 49,90, order 1043”. A step of a workflow does not
 * name its starter, who did not take that step. Undefined for an RPC without a description.
 */
export function auditSentence(view: View, entry: AuditEntry, facts: AuditFacts): string | undefined {
  const name = technicalName(entry);
  const general: Readonly<Record<string, string>> = textsFor(view, auditedActions);
  if (!Object.hasOwn(general, name)) return undefined;
  const describe = Object.hasOwn(DESCRIPTIONS, name) ? DESCRIPTIONS[name] : undefined;
  const t = textsFor(view, sentenceTexts);
  const done = describe?.({ view, entry, facts, t }) ?? general[name]!;
  const who = entry.ipAddress === '' ? '' : entry.accountName || entry.accountEmail;
  return who ? `${who} ${done.charAt(0).toLowerCase()}${done.slice(1)}` : capitalized(done);
}

const capitalized = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

function withRefund(choose: (t: Texts, entry: AuditEntry) => (refund: string) => string): Describe {
  return (subject) => {
    const refund = refundText(subject);
    return refund && choose(subject.t, subject.entry)(refund);
  };
}

function withKey(choose: (t: Texts) => (name: string) => string): Describe {
  return ({ entry, facts, t }) => {
    const name = facts.keys.get(idOf(entry, 'apiKeyId') ?? '');
    return name && choose(t)(name);
  };
}

function withEndpoint(choose: (t: Texts) => (url: string) => string): Describe {
  return ({ entry, facts, t }) => {
    const endpoint = facts.endpoints.get(idOf(entry, 'subscriptionId') ?? '');
    return endpoint && choose(t)(endpoint.url);
  };
}

/** The refund that an entry names: the refund of R$ 49,90, order 1043. */
function refundText({ view, entry, facts, t }: Subject): string | undefined {
  const refundCase = facts.refundCases.get(idOf(entry, 'refundCaseId') ?? '');
  return refundCase && t.refund(view.format.money(refundCase.amountMinor), orderText(t, facts, refundCase));
}

function disputeText({ view, entry, facts, t }: Subject): string | undefined {
  const dispute = facts.disputes.get(idOf(entry, 'disputeId') ?? '');
  if (!dispute) return undefined;
  const amount = dispute.amountMinor === undefined ? '' : view.format.money(dispute.amountMinor);
  return t.dispute(amount, orderText(t, facts, dispute));
}

function orderText(t: Texts, { saleNames }: AuditFacts, { saleId = '' }: { readonly saleId?: string }) {
  const number = saleNames.sales.get(saleId)?.orderNumber?.trim();
  return number ? t.order(number) : '';
}

const personText = ({ entry, facts }: Subject) => facts.people.get(idOf(entry, 'accountId') ?? '');

function roleText(view: View, entry: AuditEntry): string {
  const name = (fieldOf(entry, 'role') ?? '').replace('ROLE_', '') as keyof typeof Role;
  return textsFor(view, roleTexts)[roleName(Role[name] ?? Role.UNSPECIFIED)];
}
