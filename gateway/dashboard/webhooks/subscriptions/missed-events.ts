import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { timestampOf } from '../../../../services/platform/timestamps.ts';
import { moment } from '../../shell/components.ts';
import { type Html, html } from '../../shell/html.ts';
import { pathTo, textsFor, type View } from '../../shell/view.ts';
import { subscriptionTexts } from './subscriptions.texts.ts';

/** Formats a time for forms and queries: 2026-11-21T17:05:00.123Z. */
export const rfc3339 = (at: Timestamp) => timestampDate(at).toISOString();

/** What a subscription missed while it was disabled. */
export interface MissedEvents {
  /** Their positions: `12-40`. */
  readonly range: string;
  /** The period, for people; RFC 3339. */
  readonly from: string;
  readonly to: string;
}

/** Offers to resend the events that a subscription missed. */
export function missedEvents(view: View, subscriptionId: string, { range, from, to }: MissedEvents): Html {
  const t = textsFor(view, subscriptionTexts).missed;
  const at = (time: string) => moment(view, timestampOf(new Date(time)));
  return html`<section class="card missed"><h2>${t.title}</h2>
<p>${t.text} ${at(from)} ${t.to} ${at(to)}.</p>
<p><a href="${pathTo(view, `/webhooks/${subscriptionId}/resends/preview?missed=${range}`)}">${t.resend}</a></p>
<p class="hint">${t.hint}</p></section>`;
}
