import type { Section } from './access.ts';
import { type Html, html } from './html.ts';
import { layoutTexts } from './layout.texts.ts';
import { pathTo, textsFor, type View } from './view.ts';

/** A parent page: its path below the merchant's, and its name. */
export type Breadcrumb = readonly [path: string, name: string];

/** Links to a page's section and its other parents, outermost first. */
export function breadcrumbs(
  view: View,
  section: Exclude<Section, 'overview'>,
  ...parents: readonly Breadcrumb[]
): Html {
  const t = textsFor(view, layoutTexts);
  const all: readonly Breadcrumb[] = [[`/${section}`, t.sections[section]], ...parents];
  const links = all.map(
    ([path, name], index) => html`${index > 0 ? ' › ' : ''}<a href="${pathTo(view, path)}">${name}</a>`,
  );
  return html`<nav class="breadcrumbs" aria-label="${t.breadcrumbs}">${links}</nav>`;
}
