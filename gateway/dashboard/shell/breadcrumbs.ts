import { type Html, html } from './html.ts';
import { layoutTexts } from './layout.texts.ts';
import type { Section } from './layout.ts';
import { pathTo, textsFor, type View } from './view.ts';

/** A page above another: its path behind the merchant's address, and its name. */
export type Above = readonly [path: string, name: string];

/** The way up from a page: to its section, and to what else it lies under, from above. */
export function trail(view: View, section: Exclude<Section, 'overview'>, ...under: readonly Above[]): Html {
  const t = textsFor(view, layoutTexts);
  const all: readonly Above[] = [[`/${section}`, t.sections[section]], ...under];
  const links = all.map(
    ([path, name], index) => html`${index > 0 ? ' › ' : ''}<a href="${pathTo(view, path)}">${name}</a>`,
  );
  return html`<nav class="trail" aria-label="${t.trail}">${links}</nav>`;
}
