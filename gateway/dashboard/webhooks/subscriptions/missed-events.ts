import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
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
  /** The period, for people. */
  readonly from: Timestamp;
  readonly to: Timestamp;
}

/** Offers to resend the events that a subscription missed. */
export function missedEvents(view: View, subscriptionId: string, { range, from, to }: MissedEvents): Html {
  const t = textsFor(view, subscriptionTexts).missed;
  return html`<section class="card missed"><h2>${t.title}</h2>
<p>${t.text} ${moment(view, from)} ${t.to} ${moment(view, to)}.</p>
<p><a href="${pathTo(view, `/webhooks/${subscriptionId}/resends/preview?missed=${range}`)}">${t.resend}</a></p>
<p class="hint">${t.hint}</p></section>`;
}
