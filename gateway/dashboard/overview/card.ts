import { ConnectError } from '@connectrpc/connect';
import { type Html, html } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { overviewTexts } from './overview.texts.ts';

/** A card with a heading, content, and links to more. */
export function card(name: string, title: string, content: Html, links: Html): Html {
  return html`<section class="card" aria-labelledby="${name}-title"><h2 id="${name}-title">${title}</h2>
${content}
<p class="more">${links}</p></section>`;
}

/** Renders what a call returns; when it fails, a message in its place, so that the rest of the page still works. */
export async function renderOrUnavailable<T>(
  view: View,
  call: Promise<T>,
  render: (response: T) => Html,
): Promise<Html> {
  const result = await call.then(
    (value) => ({ value }),
    (error: unknown) => {
      if (!(error instanceof ConnectError)) throw error;
      return undefined;
    },
  );
  return result
    ? render(result.value)
    : html`<p class="soft unavailable">${textsFor(view, overviewTexts).unavailable}</p>`;
}
