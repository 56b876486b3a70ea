import { type Static, Type } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { type RefundCase, RefundCaseOrder } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { csvLinks } from '../exports/csv-links.ts';
import { namedSaleOf, readSaleNames, type SaleNames } from '../funds/sale-names.ts';
import { salesTexts } from '../funds/sales.texts.ts';
import { amountColumn, dataTable, field, moment, pageParameter, pager, select } from '../shell/components.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { type Html, html } from '../shell/html.ts';
import { layoutTexts } from '../shell/layout.texts.ts';
import { liveRegion } from '../shell/live.ts';
import { filterField, filterParameter, isIdOrEmpty, queryForm, refusedFilters } from '../shell/query-form.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { blockers, deadline, STATES, stateBadge } from './refund-case.components.ts';
import {
  choiceParameters,
  choicesOf,
  chosenFields,
  INITIATORS,
  type RefundChoices,
} from './refund-filters.ts';
import { refundsTexts } from './refunds.texts.ts';

const PAGE_SIZE = 25;
const EXCERPT_LENGTH = 80;

const Query = Type.Object({
  /** Without a status, cases awaiting the merchant's decision; with an empty one, all. */
  ...choiceParameters,
  payment: filterParameter,
  order: filterParameter,
  page: pageParameter,
  notice: filterParameter,
});

interface Filters extends RefundChoices {
  readonly payment: string;
  readonly order: string;
}

/** The list of refund cases: by default those awaiting the merchant's decision, by deadline. */
export function refundListPage({ pages, clients }: FeatureDependencies): void {
  pages.page(
    { path: '/refunds', role: Role.VIEWER, section: 'refunds', query: Query },
    async (view, { query }) => {
      const filters = filtersOf(query);
      const t = textsFor(view, refundsTexts);
      if (!isIdOrEmpty(filters.payment) || !isIdOrEmpty(filters.order)) {
        return refusedFilters(t.title, filterForm(view, filters), t.none);
      }
      const { refundCases, nextPageToken } = await clients.refundCases.listRefundCases(
        { ...view.tenant, ...requestOf(filters), pageSize: PAGE_SIZE, pageToken: query.page ?? '' },
        view.call,
      );
      const names = await readSaleNames(clients, view, refundCases);
      const cases = caseTable(view, filters, refundCases, names);
      const body = html`${filterForm(view, filters)}
${csvLinks(view, '/refunds.csv', { status: filters.state ?? '', initiator: filters.initiator ?? '' })}
${liveRegion('cases', cases)}
${pager(view, nextPageToken)}`;
      return { title: t.title, body, live: { cases } };
    },
  );
}

function filtersOf({ payment = '', order = '', ...choices }: Static<typeof Query>): Filters {
  return {
    ...choicesOf({ status: 'MERCHANT_REVIEW', ...choices }),
    payment: payment.trim(),
    order: order.trim(),
  };
}

function requestOf({ state, initiator, payment, order }: Filters) {
  const awaitsDecision = state === 'MERCHANT_REVIEW';
  return {
    ...(awaitsDecision && { order: RefundCaseOrder.REVIEW_DEADLINE }),
    ...chosenFields({ state: awaitsDecision ? undefined : state, initiator }),
    ...(payment && { paymentIntentId: payment }),
    ...(order && { orderId: order }),
  };
}

function filterForm(view: View, { state, initiator, payment, order }: Filters): Html {
  const t = textsFor(view, refundsTexts);
  const states = STATES.map((name) => [name, t.states[name]] as const);
  const initiators = INITIATORS.map((name) => [name, t.initiators[name]] as const);
  const idField = (name: string, label: string, value: string) =>
    filterField({ name, label, fault: isIdOrEmpty(value) ? undefined : t.notAnId }, value);
  const fields = html`${field({ name: 'status', label: t.status }, select([...states, ['', t.anyStatus]], state ?? ''))}
${field({ name: 'initiator', label: t.initiator }, select([['', t.anyInitiator], ...initiators], initiator ?? ''))}
${idField('payment', t.payment, payment)}
${idField('order', t.order, order)}`;
  const hasFault = !isIdOrEmpty(payment) || !isIdOrEmpty(order);
  const collapsed = { summary: textsFor(view, layoutTexts).filters, open: hasFault };
  return queryForm({ action: pathTo(view, '/refunds'), fields, submit: t.filter, collapsed });
}

function caseTable(view: View, { state }: Filters, cases: readonly RefundCase[], names: SaleNames): Html {
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
        isFreeText: true,
        narrow: 'start',
        cell: ({ id, reason }) => html`<a href="${pathTo(view, `/refunds/${id}`)}">${excerpt(reason)}</a>`,
      },
      {
        label: textsFor(view, salesTexts).sale,
        isFreeText: true,
        narrow: 'start',
        cell: ({ saleId }) => namedSaleOf(view, saleId, names),
      },
      { ...amountColumn<RefundCase>(view, t.amount, ({ amountMinor }) => amountMinor), narrow: 'end' },
      { label: t.status, narrow: 'end', cell: (refundCase) => stateBadge(view, refundCase) },
      { label: t.deadline, narrow: 'wide', cell: (refundCase) => deadline(view, refundCase) },
      { label: t.blockers, narrow: 'end', cell: (refundCase) => blockers(view, refundCase) },
      { label: t.requested, narrow: 'hidden', cell: ({ requestedAt }) => moment(view, requestedAt) },
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
