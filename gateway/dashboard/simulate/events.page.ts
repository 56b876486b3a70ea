import { Type } from 'typebox';
import type { EventType } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { breadcrumbs } from '../shell/breadcrumbs.ts';
import { field, form, hiddenFields, inputField, select } from '../shell/components.ts';
import { Failure } from '../shell/failures.ts';
import { type Html, html } from '../shell/html.ts';
import { liveRegion } from '../shell/live.ts';
import type { Pages } from '../shell/pages.ts';
import { queryForm } from '../shell/query-form.ts';
import { textsFor, type View } from '../shell/view.ts';
import { eventTypeTexts } from '../webhooks/subscriptions/event-type.texts.ts';
import { simulatedEventTexts } from './events.texts.ts';
import { OUTCOME_QUERY, outcome } from './outcome.ts';
import { IN_SANDBOX, redirectWithOutcome } from './sandbox.ts';
import { simulateTexts } from './simulate.texts.ts';

const name = () => Type.String({ minLength: 1, maxLength: 100 });
const Query = Type.Object({ ...OUTCOME_QUERY, type: Type.Optional(name()) });
const EventForm = Type.Object({ type: name(), object_id: name() });

/** The catalog's example of an event type, with a form to publish it. */
export function simulatedEventPage(pages: Pages): void {
  pages.page({ ...IN_SANDBOX, path: '/simulate/events', query: Query }, async (view, { query }) => {
    const t = textsFor(view, simulatedEventTexts);
    const { eventTypes } = await view.clients.events.listEventTypes({});
    const chosen = eventTypes.find((type) => type.name === query.type) ?? eventTypes[0]!;
    const live = { outcome: await outcome(view, query.request) };
    const body = html`${breadcrumbs(view, 'simulate')}${liveRegion('outcome', live.outcome)}
${typeChoice(view, eventTypes, chosen)}
${publication(view, chosen)}`;
    return { title: t.title, body, live, notices: { event: textsFor(view, simulateTexts).done.event } };
  });
}

/** Publishes an event of the catalog with its example data. */
export function publishEventAction(pages: Pages): void {
  const options = { ...IN_SANDBOX, path: '/simulate/events/publish', form: EventForm } as const;
  pages.action(options, async (view, { form: { type, object_id }, key }) => {
    const { eventTypes } = await view.clients.events.listEventTypes({});
    const data = eventTypes.find(({ name }) => name === type)?.dataExample;
    if (!data) throw Failure.with(422, simulateTexts, (t) => t.faults.noSuchType);
    const event = { type, objectId: object_id, data };
    await view.clients.events.publishEvent({ ...event, idempotencyKey: key });
    return redirectWithOutcome(view, '/simulate/events', 'event', { type });
  });
}

function typeChoice(view: View, types: readonly EventType[], chosen: EventType): Html {
  const t = textsFor(view, simulatedEventTexts);
  const options = types.map((type) => [type.name, type.name] as const);
  return queryForm(view, {
    fields: field({ name: 'type', label: t.eventType }, select(options, chosen.name)),
    submit: t.choose,
  });
}

/** The form to publish the example, by default for the example's own object. */
function publication(view: View, { name: type, description, dataExample = {} }: EventType): Html {
  const t = textsFor(view, simulatedEventTexts);
  const objectId = typeof dataExample.id === 'string' ? dataExample.id : view.merchantId;
  const fields = html`${hiddenFields({ type })}
${inputField({ name: 'object_id', label: t.objectId, hint: t.objectIdHint }, objectId, html`maxlength="100" required`)}`;
  return html`<section class="card"><h2><code>${type}</code></h2><p>${textsFor(view, eventTypeTexts).descriptions[type] ?? description}</p>
<h3>${t.example}</h3><pre tabindex="0">${JSON.stringify(dataExample, undefined, 2)}</pre>
${form(view, { action: '/simulate/events/publish', submit: t.publish, fields })}</section>`;
}
