import { Type } from 'typebox';
import { type AuditEntry, type Member, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { allItems } from '../../../services/platform/rpc/pages-of.ts';
import { dataTable, field, moment, pageParameter, pager, select } from '../shell/components.ts';
import { type Html, html } from '../shell/html.ts';
import { liveRegion } from '../shell/live.ts';
import type { Pages } from '../shell/pages.ts';
import { queryForm } from '../shell/query-form.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { auditTexts } from './audit.texts.ts';
import { type AuditFacts, readAuditFacts } from './audit-facts.ts';
import { auditSentence, technicalName } from './sentences.ts';

const PAGE_SIZE = 50;

const query = Type.Object({
  page: pageParameter,
  /** An account id; empty for everyone. */
  person: Type.Optional(Type.Union([Type.Literal(''), Type.String({ format: 'uuid' })])),
});

/** The audit trail: who did what, when and from where. For administrators. */
export function auditPage(pages: Pages): void {
  const options = { path: '/audit', role: Role.ADMIN, section: 'audit', query } as const;
  pages.page(options, async (view, { query: { page: pageToken = '', person: accountId = '' } }) => {
    const t = textsFor(view, auditTexts);
    const request = { pageSize: PAGE_SIZE, pageToken, peopleOnly: true, ...(accountId && { accountId }) };
    const [members, list] = await Promise.all([
      allItems(view.clients.accounts.listMembers, (page) => page.members),
      view.clients.accounts.listAuditEntries(request),
    ]);
    const facts = await readAuditFacts(view, list.entries, members);
    const entries = html`${entryTable(view, list.entries, facts)}
${pager(view, list.nextPageToken)}`;
    return {
      title: t.title,
      live: { entries },
      body: html`<p>${t.lead[view.environment]}</p>
${filterForm(view, members, accountId)}
${liveRegion('entries', entries)}`,
    };
  });
}

function filterForm(view: View, members: readonly Member[], chosen: string): Html {
  const t = textsFor(view, auditTexts);
  const people = members.map(
    ({ account }) => [account!.id, account!.email || account!.name || account!.id] as const,
  );
  const isOther = chosen !== '' && !people.some(([id]) => id === chosen);
  const options = [['', t.everyone] as const, ...people, ...(isOther ? [[chosen, t.former] as const] : [])];
  return queryForm(view, { fields: field({ name: 'person', label: t.person }, select(options, chosen)) });
}

function entryTable(view: View, entries: readonly AuditEntry[], facts: AuditFacts): Html {
  const t = textsFor(view, auditTexts);
  return dataTable<AuditEntry>(
    t.entries,
    [
      { label: t.when, cell: ({ occurredAt }) => moment(view, occurredAt) },
      {
        label: t.who,
        isFreeText: true,
        cell: ({ accountId, accountEmail }) =>
          html`<a href="${pathTo(view, '/audit')}?person=${accountId}" class="whole">${accountEmail || html`<code>${accountId}</code>`}</a>`,
      },
      { label: t.what, isFreeText: true, cell: (entry) => actionText(view, entry, facts) },
      {
        label: t.from,
        cell: ({ ipAddress }) => (ipAddress === '' ? t.byWorkflow : html`<code>${ipAddress}</code>`),
      },
      { label: t.request, isFreeText: true, cell: (entry) => requestDetails(view, entry) },
    ],
    entries,
    t.empty,
  );
}

/** Describes the action; an RPC without a description is shown by name. */
function actionText(view: View, entry: AuditEntry, facts: AuditFacts): Html {
  const sentence = auditSentence(view, entry, facts);
  return sentence === undefined ? html`<code>${technicalName(entry)}</code>` : html`${sentence}`;
}

function requestDetails(view: View, entry: AuditEntry): Html {
  const t = textsFor(view, auditTexts);
  const { request, requestId } = entry;
  const isEmpty = request !== undefined && Object.keys(request).length === 0;
  const reason = isEmpty ? t.noDetails : t.tooLarge;
  const shown =
    request === undefined || isEmpty
      ? html`<p>${reason}</p>`
      : html`<pre>${JSON.stringify(request, null, 2)}</pre>`;
  return html`<details><summary>${t.show}</summary><p><code>${technicalName(entry)}</code></p>${shown}<p class="hint">${t.requestId} <code class="whole">${requestId}</code></p></details>`;
}
