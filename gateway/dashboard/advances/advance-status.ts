import { AdvanceRequestStatus } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { badge } from '../shell/components.ts';
import { type Html, nothing } from '../shell/html.ts';
import { type PlainView, textsFor } from '../shell/view.ts';
import { advancesTexts } from './advances.texts.ts';

/** A request's status as a badge. */
export function statusBadge(view: PlainView, status: AdvanceRequestStatus): Html {
  const t = textsFor(view, advancesTexts).statuses;
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
