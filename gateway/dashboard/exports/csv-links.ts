import { Type } from 'typebox';
import { type Html, html } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import type { CSV_FORMATS, CsvFormat } from './csv.ts';
import { exportTexts } from './export.texts.ts';

const FORMATS = ['br', 'intl'] as const satisfies readonly (keyof typeof CSV_FORMATS)[];

/** The query parameter of a download: the Brazilian format when absent. */
export const formatParameter = Type.Optional(Type.Union(FORMATS.map((name) => Type.Literal(name))));

/** Links to a list as CSV, one for each format, for the same filters; empty ones are left out. */
export function csvLinks(
  view: View,
  path: string,
  filters: Readonly<Record<string, string | undefined>>,
): Html {
  const t = textsFor(view, exportTexts);
  const link = (format: CsvFormat) => {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...filters, format })) if (value) query.set(name, value);
    return html`<a href="${pathTo(view, `${path}?${query}`)}" download>${t.formats[format]}</a>`;
  };
  return html`<p class="downloads">${t.download} ${link('br')} · ${link('intl')}</p>`;
}
