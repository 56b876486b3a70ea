import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { timestampOf } from '../../../../services/platform/timestamps.ts';
import { form, hiddenFields, moment } from '../../shell/components.ts';
import { type Html, html } from '../../shell/html.ts';
import { textsFor, type View } from '../../shell/view.ts';
import { subscriptionTexts } from './subscriptions.texts.ts';

/** Formats a time for forms and queries: 2026-11-21T17:05:00.123Z. */
export const rfc3339 = (at: Timestamp) => timestampDate(at).toISOString();

/** The period during which a subscription was disabled; RFC 3339. */
export interface MissedPeriod {
  readonly from: string;
  readonly to: string;
}

/** Offers to resend the events that a subscription missed. */
export function missedPeriod(view: View, subscriptionId: string, { from, to }: MissedPeriod): Html {
  const t = textsFor(view, subscriptionTexts).missed;
  const fields = hiddenFields({ from, to });
  const at = (time: string) => moment(view, timestampOf(new Date(time)));
  return html`<section class="card missed"><h2>${t.title}</h2>
<p>${t.text} ${at(from)} ${t.to} ${at(to)}.</p>
${form(view, { action: `/webhooks/${subscriptionId}/resends`, submit: t.resend, fields })}
<p class="hint">${t.hint}</p></section>`;
}
