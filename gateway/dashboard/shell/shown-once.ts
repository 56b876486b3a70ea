import { copyable } from './components.ts';
import { type Html, html } from './html.ts';
import type { PlainView } from './view.ts';

/** A secret in the one answer that ever holds it, after `words` that say so; scripts remove it when the page is left. */
export function shownOnce(view: PlainView, words: Html, secret: string): Html {
  return html`<div class="secret">${words}
<p class="value" data-once>${copyable(view, secret)}</p></div>`;
}
