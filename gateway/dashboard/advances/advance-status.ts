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
 * Whether the payout of a released advance has not been accepted yet. Once an advance is settled, one without a recorded
 * payout counts as paid: without a provider, operations may pay without recording it.
 */
export const isPaying = ({ payout, status }: Pick<AdvanceRequest, 'status' | 'payout'>) =>
  payout === undefined ? status === AdvanceRequestStatus.RELEASED : payout.acceptedAt === undefined;

/** Whether the bank has returned the payout, and no other one is recorded yet. */
export const isReturned = ({ payout }: Pick<AdvanceRequest, 'payout'>) =>
  payout?.lastAnswer === PayoutAnswer.RETURNED;

const TONES = {
  PENDING_REVIEW: 'busy',
  APPROVED: 'busy',
  PAYING: 'busy',
  RETURNED: 'bad',
  RELEASED: 'good',
  REFUSED: 'bad',
  SETTLED: 'off',
} as const;

/** A request's status as a badge. */
export function statusBadge(view: PlainView, request: Pick<AdvanceRequest, 'status' | 'payout'>): Html {
  const name = statusName(request);
  return badge(TONES[name], textsFor(view, advancesTexts).statuses[name]);
}

function statusName(request: Pick<AdvanceRequest, 'status' | 'payout'>) {
  if (isReturned(request)) return 'RETURNED';
  return isPaying(request) ? 'PAYING' : enumName(AdvanceRequestStatus, request.status);
}
