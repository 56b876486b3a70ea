import { Type } from 'typebox';
import { validate as isUuid } from 'uuid';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { isCivilDate } from '../../../services/platform/civil-date.ts';
import { html } from '../shell/html.ts';
import type { Pages } from '../shell/pages.ts';
import { textsFor } from '../shell/view.ts';
import { findMatches, findRecords } from './find-matches.ts';
import { promptText, resultsPage } from './results.page.ts';
import { searchTexts } from './search.texts.ts';

/** The maximum length of an endpoint's URL. */
const MAX_LENGTH = 2_048;

const query = Type.Object({ q: Type.Optional(Type.String({ maxLength: MAX_LENGTH })) });

/**
 * /search?q=…: what the search box of every page finds. The id of a record and a release date lead straight to their
 * page; anything else is listed. Every read names the merchant and environment of the page, so records of others are
 * never found.
 */
export function searchPage(pages: Pages): void {
  const options = { path: '/search', role: Role.VIEWER, section: 'search', query } as const;
  pages.page(options, async (view, { query: { q = '' } }) => {
    const t = textsFor(view, searchTexts);
    const text = isUuid(q.trim()) ? q.trim().toLowerCase() : q.trim();
    if (text === '') {
      return { title: t.title, body: html`<p>${promptText(view)}</p>` };
    }
    const date = dateOf(text);
    if (date !== undefined) return { redirect: `/funds/days/${date}` };
    const records = isUuid(text) ? await findRecords(view, text) : [];
    if (records.length === 1) return { redirect: records[0]!.path };
    return resultsPage(view, { text, records, matches: await findMatches(view, text) });
  });
}

/** The date that was typed, as 2026-11-21 or 21/11/2026; undefined for anything else. */
function dateOf(text: string): string | undefined {
  const { day, month, year } = /^(?<day>\d{2})\/(?<month>\d{2})\/(?<year>\d{4})$/.exec(text)?.groups ?? {};
  const date = day === undefined ? text : `${year}-${month}-${day}`;
  return isCivilDate(date) ? date : undefined;
}
