import type { Event } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { canSee } from '../shell/access.ts';
import { dataTable, moment } from '../shell/components.ts';
import { type Html, html } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { eventTableTexts } from './event-table.texts.ts';

/** The events of an object, newest first, with links to their deliveries for those who see them. */
export function eventTable(view: View, events: readonly Event[]): Html {
  const t = textsFor(view, eventTableTexts);
  if (events.length === 0) return html`<p>${t.none}</p>`;
  const deliveries = ({ id }: Event) => pathTo(view, `/deliveries?event=${id}`);
  const toDeliveries = {
    label: t.deliveries,
    cell: (event: Event) =>
      html`<a href="${deliveries(event)}">${t.seeDeliveries}<span class="visually-hidden"> ${event.type}</span></a>`,
  };
  return dataTable<Event>(
    t.hint,
    [
      { label: t.event, cell: ({ type }) => html`<code>${type}</code>` },
      { label: t.published, cell: ({ timestamp }) => moment(view, timestamp) },
      ...(canSee(view, 'webhooks') ? [toDeliveries] : []),
    ],
    events,
    t.none,
  );
}
