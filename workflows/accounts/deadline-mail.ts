import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Dispute, RefundCase } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { NotifyContactInput } from '../../services/contracts/accounts/notify-contact.contract.ts';
import { deadlineTexts } from './deadline.texts.ts';
import { formatMoney, formatTime } from './mail-format.ts';
import { type MailLinks, merchantUrl } from './mail-links.ts';
import type { Notice } from './notice.ts';

type Addressee = Pick<Notice, 'language' | 'merchant'>;

const MAX_LISTED = 10;

/** A mail about refund cases whose decision is due soon. */
export function dueRefundsMail(
  refundCases: readonly RefundCase[],
  { language, merchant }: Addressee,
  input: NotifyContactInput,
  links: MailLinks,
) {
  const t = deadlineTexts[language];
  const base = merchantUrl(input, links);
  const listed = refundCases.slice(0, MAX_LISTED).map(({ id, amountMinor, merchantReviewDeadlineAt }) => ({
    amount: formatMoney(language, amountMinor),
    deadline: formatTime(language, timestampDate(merchantReviewDeadlineAt!)),
    link: `${base}/refunds/${id}`,
  }));
  const count = refundCases.length;
  const facts = { merchant, listed, count, link: `${base}/refunds` };
  return { subject: t.refundsSubject(count, merchant), text: t.refunds(facts) };
}

/** A mail about a dispute whose response is due soon, or has no due date. */
export function dueDisputeMail(
  { id, amountMinor, dueAt }: Dispute,
  { language, merchant }: Addressee,
  input: NotifyContactInput,
  links: MailLinks,
) {
  const t = deadlineTexts[language];
  const facts = {
    merchant,
    amount: amountMinor === undefined ? '' : formatMoney(language, amountMinor),
    due: dueAt === undefined ? '' : formatTime(language, timestampDate(dueAt)),
    link: `${merchantUrl(input, links)}/disputes/${id}`,
  };
  return { subject: t.disputeSubject(merchant), text: t.dispute(facts) };
}
