import { ConnectError } from '@connectrpc/connect';
import { type Html, html } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { overviewTexts } from './overview.texts.ts';

/** A heading, what there is to say, and where there is more. */
export function card(name: string, title: string, content: Html, links: Html): Html {
  return html`<section class="card" aria-labelledby="${name}-title"><h2 id="${name}-title">${title}</h2>
${content}
<p class="more">${links}</p></section>`;
}

/** What is drawn of what a service answers; where it does not, that alone is said, and the page is there all the same. */
export async function drawn<T>(view: View, reading: Promise<T>, draw: (read: T) => Html): Promise<Html> {
  const read = await reading.then(
    (value) => ({ value }),
    (error: unknown) => {
      if (!(error instanceof ConnectError)) throw error;
      return undefined;
    },
  );
  return read ? draw(read.value) : html`<p class="soft away">${textsFor(view, overviewTexts).away}</p>`;
}
