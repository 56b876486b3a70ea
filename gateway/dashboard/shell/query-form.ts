import { Type } from 'typebox';
import { validate as isUuid } from 'uuid';
import { inputField } from './components.ts';
import { type Html, html, nothing } from './html.ts';
import { layoutTexts } from './layout.texts.ts';
import { type Page, type PlainView, textsFor } from './view.ts';

const MAX_LENGTH = 100;

export const filterParameter = Type.Optional(Type.String({ maxLength: MAX_LENGTH }));

/** Whether the text of a filter by id is valid. */
export const isIdOrEmpty = (text: string): boolean => text === '' || isUuid(text);

/** Whether a list is the first page of everything: its request has no filter. */
export const isUnfiltered = (request: object, pageToken = ''): boolean =>
  pageToken === '' && Object.keys(request).length === 0;

interface QueryForm {
  readonly fields: Html;
  /** The text of the button; "Filter" when absent. */
  readonly submit?: string;
  /** After the button. */
  readonly more?: Html;
  /** Makes the form collapsible on narrow screens. */
  readonly narrow?: 'open' | 'collapsed';
}

/** A GET form that filters what its page shows; the resulting URL can be bookmarked. */
export function queryForm(view: PlainView, { fields, submit, more, narrow }: QueryForm): Html {
  const t = textsFor(view, layoutTexts);
  const [action = ''] = view.url.split('?');
  const form = html`<form class="filters" method="get" action="${action}">
${fields}
<button class="plain">${submit ?? t.filter}</button>
${more ?? nothing}
</form>`;
  if (!narrow) return form;
  return html`<details class="narrow-only"${narrow === 'open' ? html` open` : nothing}><summary>${t.filters}</summary>
${form}</details>`;
}

/** A text field of a filter; with a fault, why its value was refused. */
export function filterField(
  options: { readonly name: string; readonly label: string; readonly fault?: string | undefined },
  value: string,
): Html {
  return inputField(options, value, html`maxlength="${MAX_LENGTH}" autocomplete="off" spellcheck="false"`);
}

/** A text field of a filter by id; with a fault when it is not an id. */
export function idFilterField(view: PlainView, name: string, label: string, value: string): Html {
  const fault = isIdOrEmpty(value) ? undefined : textsFor(view, layoutTexts).notAnId;
  return filterField({ name, label, fault }, value);
}

/** A list whose filters were refused. */
export const refusedFilters = (title: string, form: Html, none: string): Page => ({
  title,
  status: 422,
  body: html`${form}<p class="empty">${none}</p>`,
});
