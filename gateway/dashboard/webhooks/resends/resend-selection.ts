import type { Resend } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { moment } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { textsFor, type View } from '../../shell/view.ts';
import { resendsTexts } from './resends.texts.ts';

/** The events of a resend, and which of them it sends again. */
type ResendSelection = Pick<Resend, 'eventId' | 'requestId' | 'period' | 'missed'> &
  Partial<Pick<Resend, 'onlyFailed' | 'skipNeverSent'>>;

/** What a resend sends again, such as `Published from … to …`. */
export function selectionText(
  view: View,
  { eventId, requestId, period, missed, onlyFailed, skipNeverSent }: ResendSelection,
  shown: (id: string) => string = (id) => id,
): Html {
  const t = textsFor(view, resendsTexts);
  if (missed) return html`<span>${t.ofMissed}</span>`;
  const scope = skipNeverSent ? t.onlyFailedAndSent : t.onlyFailed;
  const failed = onlyFailed ? html` <span class="soft">(${scope})</span>` : nothing;
  if (eventId !== undefined) return html`<span>${t.ofEvent} <code>${shown(eventId)}</code>${failed}</span>`;
  if (requestId !== undefined)
    return html`<span>${t.ofRequest} <code>${shown(requestId)}</code>${failed}</span>`;
  return html`<span>${t.ofPeriod} ${moment(view, period?.from)} ${t.until} ${moment(view, period?.to)}${failed}</span>`;
}
