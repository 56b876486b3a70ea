import { type Html, html, nothing } from './html.ts';

interface QueryForm {
  /** The page's path; the form sets its query. */
  readonly action: string;
  readonly fields: Html;
  readonly submit: string;
  /** After the button. */
  readonly more?: Html;
}

/** A GET form that filters what a page shows; the resulting URL can be bookmarked. */
export function queryForm({ action, fields, submit, more }: QueryForm): Html {
  return html`<form class="filters" method="get" action="${action}">
${fields}
<button class="plain">${submit}</button>
${more ?? nothing}
</form>`;
}
