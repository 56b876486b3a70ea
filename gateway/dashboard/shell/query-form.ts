import { type Html, html, nothing } from './html.ts';

interface QueryForm {
  /** Where the page is; its query is the form's. */
  readonly action: string;
  readonly fields: Html;
  readonly submit: string;
  /** Behind the button. */
  readonly more?: Html;
}

/** A form that chooses what a page shows: it changes nothing, and its address can be kept. */
export function queryForm({ action, fields, submit, more }: QueryForm): Html {
  return html`<form class="filters" method="get" action="${action}">
${fields}
<button class="plain">${submit}</button>
${more ?? nothing}
</form>`;
}
