import { AdvanceRequestStatus } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { badge, type Tone } from '../components.ts';
import { type Html, nothing } from '../html.ts';
import { type PlainView, textsFor } from '../view.ts';
import { advancesTexts } from './advances.texts.ts';

/** A request's state in a word and a colour. */
export function statusBadge(view: PlainView, status: AdvanceRequestStatus): Html {
  const t = textsFor(view, advancesTexts).statuses;
  const shown = (tone: Tone, text: string) => badge(tone, text);
  switch (status) {
    case AdvanceRequestStatus.PENDING_REVIEW:
      return shown('busy', t.PENDING_REVIEW);
    case AdvanceRequestStatus.APPROVED:
      return shown('busy', t.APPROVED);
    case AdvanceRequestStatus.RELEASED:
      return shown('good', t.RELEASED);
    case AdvanceRequestStatus.REFUSED:
      return shown('bad', t.REFUSED);
    case AdvanceRequestStatus.SETTLED:
      return shown('off', t.SETTLED);
    case AdvanceRequestStatus.UNSPECIFIED:
      return nothing;
    default:
      return status satisfies never;
  }
}
