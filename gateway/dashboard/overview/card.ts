import { ConnectError } from '@connectrpc/connect';
import { type Html, html } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { overviewTexts } from './overview.texts.ts';

interface Card<T> {
  /** Unique on the page. */
  readonly name: string;
  readonly title: string;
  readonly call: Promise<T>;
  render(response: T): Html;
  /** Links below the content; called without a response if the call has failed. */
  links(response: T | undefined): Html;
}

/** A card with what a call returns. If it fails, the card says so, and the rest of the page still works. */
export async function card<T>(view: View, { name, title, call, render, links }: Card<T>): Promise<Html> {
  const result = await call.then(
    (value) => ({ value }),
    (error: unknown) => {
      if (!(error instanceof ConnectError)) throw error;
      return undefined;
    },
  );
  const content = result
    ? render(result.value)
    : html`<p class="soft unavailable">${textsFor(view, overviewTexts).unavailable}</p>`;
  return html`<section class="card" aria-labelledby="${name}-title"><h2 id="${name}-title">${title}</h2>
${content}
<p class="more">${links(result?.value)}</p></section>`;
}
