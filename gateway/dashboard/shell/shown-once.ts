import { copyable } from './components.ts';
import { type Html, html } from './html.ts';
import type { PlainView } from './view.ts';

/** A secret that only this response contains, below `words` that say so; the script removes it when the page is left. */
export function shownOnce(view: PlainView, words: Html, secret: string): Html {
  return html`<div class="secret">${words}
<p class="value" data-once>${copyable(view, secret)}</p></div>`;
}
