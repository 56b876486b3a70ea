import {
  type AdvanceRequest,
  AdvanceRequestStatus,
} from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { badge } from '../shell/components.ts';
import { type Html, nothing } from '../shell/html.ts';
import { type PlainView, textsFor } from '../shell/view.ts';
import { advancesTexts } from './advances.texts.ts';

/**
 * Whether the payout of a released advance has not been accepted yet. Once an advance is settled, one without a recorded
 * payout counts as paid: without a provider, operations may pay without recording it.
 */
export const isPaying = ({ payout, status }: Pick<AdvanceRequest, 'status' | 'payout'>) =>
  payout === undefined ? status === AdvanceRequestStatus.RELEASED : payout.acceptedAt === undefined;

/** A request's status as a badge. */
export function statusBadge(view: PlainView, request: Pick<AdvanceRequest, 'status' | 'payout'>): Html {
  const t = textsFor(view, advancesTexts).statuses;
  if (isPaying(request)) return badge('busy', t.PAYING);
  const { status } = request;
  switch (status) {
    case AdvanceRequestStatus.PENDING_REVIEW:
      return badge('busy', t.PENDING_REVIEW);
    case AdvanceRequestStatus.APPROVED:
      return badge('busy', t.APPROVED);
    case AdvanceRequestStatus.RELEASED:
      return badge('good', t.RELEASED);
    case AdvanceRequestStatus.REFUSED:
      return badge('bad', t.REFUSED);
    case AdvanceRequestStatus.SETTLED:
      return badge('off', t.SETTLED);
    case AdvanceRequestStatus.UNSPECIFIED:
      return nothing;
    default:
      return status satisfies never;
  }
}
