import { type Static, Type } from 'typebox';
import type { EventType } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { inputField } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { textsFor, type View } from '../../shell/view.ts';
import type { CreationFault } from './creation-fault.ts';
import { eventTypeTexts } from './event-type.texts.ts';
import { newSubscriptionTexts } from './new-subscription.texts.ts';

const LIST_ID = 'event-types';

export const SubscriptionForm = Type.Object({
  url: Type.String({ maxLength: 20_000 }),
  description: Type.Optional(Type.String({ maxLength: 20_000 })),
  event_types: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 200 })),
  every: Type.Optional(Type.Literal('on')),
});

/** The submitted values. */
export interface Typed {
  readonly url: string;
  readonly description: string;
  readonly chosen: readonly string[];
  readonly every: boolean;
}

/** The submitted values, and the names of the event types that they stand for. */
export function typedOf(form: Static<typeof SubscriptionForm>, catalog: readonly EventType[]) {
  const every = form.every !== undefined;
  const description = form.description?.trim() ?? '';
  const typed = { url: form.url.trim(), description, chosen: form.event_types ?? [], every };
  return { typed, names: every ? catalog.map(({ name }) => name) : typed.chosen };
}

/** The fields of a subscription, with submitted values and their faults. */
export function subscriptionFields(
  view: View,
  catalog: readonly EventType[],
  typed: Typed,
  fault?: CreationFault,
): Html {
  const t = textsFor(view, newSubscriptionTexts);
  const url = inputField(
    { name: 'url', label: t.url, hint: t.urlHint, fault: fault?.url },
    typed.url,
    html`inputmode="url" autocomplete="off" spellcheck="false" autocapitalize="off"`,
  );
  const description = inputField(
    { name: 'description', label: t.description, hint: t.descriptionHint, fault: fault?.description },
    typed.description,
    html`autocomplete="off"`,
  );
  return html`${url}${description}${eventTypeChoice(view, catalog, typed, fault?.eventTypes)}`;
}

function eventTypeChoice(
  view: View,
  catalog: readonly EventType[],
  { chosen, every }: Typed,
  fault: string | undefined,
): Html {
  const t = textsFor(view, newSubscriptionTexts);
  const { groups } = textsFor(view, eventTypeTexts);
  const checked = new Set(chosen);
  const topics = Map.groupBy(catalog, ({ name }) => name.slice(0, name.indexOf('.')));
  const group = ([topic, types]: [string, EventType[]]) =>
    html`<fieldset><legend>${groups[topic] ?? topic}</legend>${types.map((type) => option(view, type, checked))}</fieldset>`;
  // The search field is outside the form, so that Enter does not submit it.
  const faulty = fault ? html` aria-invalid="true" aria-describedby="event-types-fault" autofocus` : nothing;
  return html`<fieldset class="event-types">
<legend>${t.eventTypes}</legend>
<p class="hint">${t.eventTypesHint}</p>
${fault ? html`<p class="fault" id="event-types-fault">${fault}</p>` : nothing}
<label class="option every"><input type="checkbox" name="every" value="on"${checkedIf(every)}${faulty}> ${t.every}</label>
<div class="field" data-filter="${LIST_ID}" hidden><label for="event-type-search">${t.search}</label>
<input id="event-type-search" type="search" form="none" autocomplete="off"></div>
<div class="groups" id="${LIST_ID}">${[...topics].map(group)}</div>
</fieldset>`;
}

function option(view: View, type: EventType, checked: ReadonlySet<string>): Html {
  return html`<label class="option"><input type="checkbox" name="event_types" value="${type.name}"${checkedIf(checked.has(type.name))}> <span><code>${type.name}</code> <span class="type-description">${describeEventType(view, type)}</span></span></label>`;
}

const checkedIf = (is: boolean) => (is ? html` checked` : nothing);

/** The description of an event type, in the viewer's language if there is a translation. */
function describeEventType(view: View, { name, description }: Pick<EventType, 'name' | 'description'>) {
  return textsFor(view, eventTypeTexts).descriptions[name] ?? description;
}
