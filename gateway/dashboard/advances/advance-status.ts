import {
  type AdvanceRequest,
  AdvanceRequestStatus,
  PayoutAnswer,
} from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { enumName } from '../../../services/platform/enum-name.ts';
import { badge } from '../shell/components.ts';
import type { Html } from '../shell/html.ts';
import { type PlainView, textsFor } from '../shell/view.ts';
import { advancesTexts } from './advances.texts.ts';

/**
 * Whether the payout of a released advance has not been accepted yet (PAYING), or was returned by the bank and not made again
 * (RETURNED). Undefined otherwise. Once an advance is settled, one without a recorded payout counts as paid: without a
 * provider, operations may pay without recording it.
 */
export function openPayout({ payout, status }: Pick<AdvanceRequest, 'status' | 'payout'>) {
  if (payout === undefined) return status === AdvanceRequestStatus.RELEASED ? 'PAYING' : undefined;
  if (payout.acceptedAt) return undefined;
  return payout.lastAnswer === PayoutAnswer.RETURNED ? 'RETURNED' : 'PAYING';
}

const TONES = {
  PENDING_REVIEW: 'busy',
  APPROVED: 'busy',
  PAYING: 'busy',
  RETURNED: 'bad',
  RELEASED: 'good',
  REFUSED: 'bad',
  SETTLED: 'off',
} as const;

/** The names of statuses where it is not known which payouts the provider has accepted: in filters and totals. */
export function statusNames(view: PlainView) {
  const { statuses, paidOrPaying } = textsFor(view, advancesTexts);
  return { ...statuses, RELEASED: paidOrPaying };
}

export function statusBadge(view: PlainView, request: Pick<AdvanceRequest, 'status' | 'payout'>): Html {
  const name = openPayout(request) ?? enumName(AdvanceRequestStatus, request.status);
  return badge(TONES[name], textsFor(view, advancesTexts).statuses[name]);
}
