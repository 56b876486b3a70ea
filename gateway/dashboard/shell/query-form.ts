import { Type } from 'typebox';
import { validate as isUuid } from 'uuid';
import { field } from './components.ts';
import { type Html, html, nothing } from './html.ts';
import type { Page } from './view.ts';

const MAX_LENGTH = 100;

/** The query parameter of a filter. */
export const filterParameter = Type.Optional(Type.String({ maxLength: MAX_LENGTH }));

/** Whether the text of a filter by id is valid. */
export const isIdOrEmpty = (text: string): boolean => text === '' || isUuid(text);

interface QueryForm {
  /** The page's path; the form sets its query. */
  readonly action: string;
  readonly fields: Html;
  readonly submit: string;
  /** After the button. */
  readonly more?: Html;
  /** Collapses the form on narrow screens, under this text. */
  readonly collapsed?: { readonly summary: string; readonly open: boolean };
}

/** A GET form that filters what a page shows; the resulting URL can be bookmarked. */
export function queryForm({ action, fields, submit, more, collapsed }: QueryForm): Html {
  const form = html`<form class="filters" method="get" action="${action}">
${fields}
<button class="plain">${submit}</button>
${more ?? nothing}
</form>`;
  if (!collapsed) return form;
  return html`<details class="narrow-only"${collapsed.open ? html` open` : nothing}><summary>${collapsed.summary}</summary>
${form}</details>`;
}

/** A text field of a filter; with a fault, why its value was refused. */
export function filterField(
  options: { readonly name: string; readonly label: string; readonly fault?: string | undefined },
  value: string,
): Html {
  return field(options, (attributes) => {
    return html`<input ${attributes} value="${value}" maxlength="${MAX_LENGTH}" autocomplete="off" spellcheck="false">`;
  });
}

/** A list whose filters were refused. */
export const refusedFilters = (title: string, form: Html, none: string): Page => ({
  title,
  status: 422,
  body: html`${form}<p class="empty">${none}</p>`,
});
