import { type Static, Type } from 'typebox';
import { validate as isUuid } from 'uuid';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  type RefundCase,
  RefundCaseOrder,
  RefundCaseStatus,
  RefundInitiator,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { amountColumn, dataTable, field, moment, pageParameter, pager, select } from '../shell/components.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { type Html, html } from '../shell/html.ts';
import { liveRegion } from '../shell/live.ts';
import { queryForm } from '../shell/query-form.ts';
import { type Page, pathTo, textsFor, type View } from '../shell/view.ts';
import { blockers, deadline, STATES, type StateName, stateBadge } from './refund-case.components.ts';
import { refundsTexts } from './refunds.texts.ts';

const PAGE_SIZE = 25;
const EXCERPT_LENGTH = 80;
const INITIATORS = ['CUSTOMER', 'MERCHANT'] as const;

const filter = () => Type.Optional(Type.String({ maxLength: 100 }));
const Query = Type.Object({
  /** Absent: cases awaiting the merchant's decision; empty: all. */
  status: filter(),
  initiator: filter(),
  payment: filter(),
  order: filter(),
  page: pageParameter,
  notice: filter(),
});

interface Filters {
  readonly state: StateName | undefined;
  readonly initiator: (typeof INITIATORS)[number] | undefined;
  readonly payment: string;
  readonly order: string;
}

/** The list of refund cases: by default those awaiting the merchant's decision, by deadline. */
export function refundListPage({ pages, clients }: FeatureDependencies): void {
  pages.page(
    { path: '/refunds', role: Role.VIEWER, section: 'refunds', query: Query },
    async (view, { query }) => {
      const filters = filtersOf(query);
      if (!isIdOrEmpty(filters.payment) || !isIdOrEmpty(filters.order)) return refused(view, filters);
      const { refundCases, nextPageToken } = await clients.refundCases.listRefundCases(
        { ...view.tenant, ...requestOf(filters), pageSize: PAGE_SIZE, pageToken: query.page ?? '' },
        view.call,
      );
      const cases = caseTable(view, filters, refundCases);
      const body = html`${filterForm(view, filters)}
${liveRegion('cases', cases)}
${pager(view, nextPageToken)}`;
      return { title: textsFor(view, refundsTexts).title, body, live: { cases } };
    },
  );
}

/** Ignores unknown values of a drop-down. */
function filtersOf({ status, initiator, payment = '', order = '' }: Static<typeof Query>): Filters {
  return {
    state: status === undefined ? 'MERCHANT_REVIEW' : STATES.find((name) => name === status),
    initiator: INITIATORS.find((name) => name === initiator),
    payment: payment.trim(),
    order: order.trim(),
  };
}

const isIdOrEmpty = (text: string) => text === '' || isUuid(text);

function requestOf({ state, initiator, payment, order }: Filters) {
  const awaitsDecision = state === 'MERCHANT_REVIEW';
  return {
    ...(awaitsDecision && { order: RefundCaseOrder.REVIEW_DEADLINE }),
    ...(state && !awaitsDecision && { status: RefundCaseStatus[state] }),
    ...(initiator && { initiator: RefundInitiator[initiator] }),
    ...(payment && { paymentIntentId: payment }),
    ...(order && { orderId: order }),
  };
}

function refused(view: View, filters: Filters): Page {
  const t = textsFor(view, refundsTexts);
  return {
    title: t.title,
    status: 422,
    body: html`${filterForm(view, filters)}<p class="empty">${t.none}</p>`,
  };
}

function filterForm(view: View, { state, initiator, payment, order }: Filters): Html {
  const t = textsFor(view, refundsTexts);
  const states = STATES.map((name) => [name, t.states[name]] as const);
  const initiators = INITIATORS.map((name) => [name, t.initiators[name]] as const);
  const idField = (name: string, label: string, value: string) =>
    field({ name, label, fault: isIdOrEmpty(value) ? undefined : t.notAnId }, (attributes) => {
      return html`<input ${attributes} value="${value}" maxlength="100" autocomplete="off" spellcheck="false">`;
    });
  const fields = html`${field({ name: 'status', label: t.status }, select([...states, ['', t.anyStatus]], state ?? ''))}
${field({ name: 'initiator', label: t.initiator }, select([['', t.anyInitiator], ...initiators], initiator ?? ''))}
${idField('payment', t.payment, payment)}
${idField('order', t.order, order)}`;
  return queryForm({ action: pathTo(view, '/refunds'), fields, submit: t.filter });
}

function caseTable(view: View, { state }: Filters, cases: readonly RefundCase[]): Html {
  const t = textsFor(view, refundsTexts);
  const awaitsDecision = state === 'MERCHANT_REVIEW';
  if (awaitsDecision && cases.length === 0) {
    return html`<p class="empty">${t.noneAwaiting} <a href="${pathTo(view, '/refunds?status=')}">${t.all}</a></p>`;
  }
  return dataTable<RefundCase>(
    awaitsDecision ? t.awaitingHint : t.newestHint,
    [
      {
        label: t.case,
        cell: ({ id, reason }) => html`<a href="${pathTo(view, `/refunds/${id}`)}">${excerpt(reason)}</a>`,
      },
      amountColumn(view, t.amount, ({ amountMinor }) => amountMinor),
      { label: t.status, cell: (refundCase) => stateBadge(view, refundCase) },
      { label: t.deadline, cell: (refundCase) => deadline(view, refundCase) },
      { label: t.blockers, cell: (refundCase) => blockers(view, refundCase) },
      { label: t.requested, cell: ({ requestedAt }) => moment(view, requestedAt) },
    ],
    cases,
    t.none,
  );
}

/** The start of a text; never empty, as it is a link's text. */
function excerpt(text: string): string {
  const characters = [...text.trim()];
  if (characters.length === 0) return '…';
  return characters.length > EXCERPT_LENGTH
    ? `${characters.slice(0, EXCERPT_LENGTH).join('')}…`
    : characters.join('');
}
