import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Dispute, RefundCase } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { deadlineTexts } from './deadline.texts.ts';
import { formatMoney, formatTime } from './mail-format.ts';
import type { Addressee } from './mail-links.ts';

const MAX_LISTED = 10;

/** A mail about refund cases whose decision is due soon. */
export function dueRefundsMail(
  refundCases: readonly RefundCase[],
  { language, merchant, merchantUrl }: Addressee,
) {
  const t = deadlineTexts[language];
  const listed = refundCases.slice(0, MAX_LISTED).map(({ id, amountMinor, merchantReviewDeadlineAt }) => ({
    amount: formatMoney(language, amountMinor),
    deadline: formatTime(language, timestampDate(merchantReviewDeadlineAt!)),
    link: `${merchantUrl}/refunds/${id}`,
  }));
  const count = refundCases.length;
  const facts = { merchant, listed, count, link: `${merchantUrl}/refunds` };
  return { subject: t.refundsSubject(count, merchant), text: t.refunds(facts) };
}

/** A mail about a dispute whose response is due soon, or has no due date. */
export function dueDisputeMail(
  { id, amountMinor, dueAt }: Dispute,
  { language, merchant, merchantUrl }: Addressee,
) {
  const t = deadlineTexts[language];
  const facts = {
    merchant,
    amount: amountMinor === undefined ? '' : formatMoney(language, amountMinor),
    due: dueAt === undefined ? '' : formatTime(language, timestampDate(dueAt)),
    link: `${merchantUrl}/disputes/${id}`,
  };
  return { subject: t.disputeSubject(merchant), text: t.dispute(facts) };
}
