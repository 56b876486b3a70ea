import { Type } from 'typebox';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  DeliveryService,
  type Resend,
  ResendState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { enumName } from '../../../../services/platform/enum-name.ts';
import { breadcrumbs } from '../../shell/breadcrumbs.ts';
import {
  badge,
  confirmForm,
  countColumn,
  dataTable,
  details,
  link,
  moment,
  pageParameter,
  pager,
} from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { liveRegion } from '../../shell/live.ts';
import type { Pages } from '../../shell/pages.ts';
import { canCall, pathTo, textsFor, type View } from '../../shell/view.ts';
import { deliveriesBreadcrumb } from '../breadcrumbs.ts';
import { endpointName, shortId } from '../deliveries/delivery.components.ts';
import { type Endpoints, readEndpoints } from '../subscriptions/subscription-reads.ts';
import { selectionText } from './resend-selection.ts';
import { resendsTexts } from './resends.texts.ts';

const PAGE_SIZE = 25;
const TONES = { RUNNING: 'busy', COMPLETED: 'good', CANCELED: 'off' } as const;

/** The list of resends, and a resend with its progress. */
export function resendPages(pages: Pages): void {
  const spec = { role: Role.VIEWER, section: 'webhooks' } as const;
  const query = Type.Object({ page: pageParameter });

  pages.page({ ...spec, path: '/resends', query }, async (view, { query: { page = '' } }) => {
    const { resends, nextPageToken } = await view.clients.deliveries.listResends({
      pageSize: PAGE_SIZE,
      pageToken: page,
    });
    const subscriptionIds = resends.flatMap(({ subscriptionId }) => subscriptionId ?? []);
    const endpoints = await readEndpoints(view, subscriptionIds);
    const t = textsFor(view, resendsTexts);
    const table = resendsTable(view, resends, endpoints);
    return {
      title: t.title,
      body: html`${breadcrumbs(view, 'webhooks', deliveriesBreadcrumb(view))}<p class="soft">${t.hint}</p>
${liveRegion('resends', table)}${pager(view, nextPageToken)}`,
      live: { resends: table },
    };
  });

  pages.page({ ...spec, path: '/resends/:resendId' }, async (view, { params }) => {
    const { resend } = await view.clients.deliveries.getResend({ resendId: params.resendId! });
    const endpoints =
      resend!.subscriptionId === undefined ? undefined : await readEndpoints(view, [resend!.subscriptionId]);
    const t = textsFor(view, resendsTexts);
    const [progress, actions] = [progressOf(view, resend!), actionsOf(view, resend!)];
    return {
      title: t.resend,
      notices: t.notices,
      body: html`${breadcrumbs(view, 'webhooks', deliveriesBreadcrumb(view))}
${liveRegion('progress', progress)}
${details([
  [t.what, selectionText(view, resend!)],
  [t.endpoint, endpointLink(view, resend!, endpoints)],
  [t.created, moment(view, resend!.createdAt)],
])}
<p><a href="${pathTo(view, `/deliveries?resend=${resend!.id}`)}">${t.deliveries}</a></p>
${liveRegion('actions', actions)}`,
      live: { progress, actions },
    };
  });

  const cancelSpec = {
    path: '/resends/:resendId/cancel',
    rpc: DeliveryService.method.cancelResend,
    section: 'webhooks',
  } as const;
  pages.action(cancelSpec, async (view, { params, key }) => {
    const resendId = params.resendId!;
    await view.clients.deliveries.cancelResend({ idempotencyKey: key, resendId });
    return { redirect: `/resends/${resendId}`, notice: 'canceled' };
  });
}

function resendsTable(view: View, resends: readonly Resend[], endpoints: Endpoints): Html {
  const t = textsFor(view, resendsTexts);
  const table = dataTable<Resend>(
    t.title,
    [
      {
        label: t.created,
        cell: ({ id, createdAt }) => link(view, `/resends/${id}`, moment(view, createdAt)),
      },
      { label: t.what, cell: (resend) => selectionText(view, resend, shortId) },
      { label: t.endpoint, isFreeText: true, cell: (resend) => endpointLink(view, resend, endpoints) },
      { label: t.state, cell: (resend) => stateBadge(view, resend) },
      { label: t.progress, cell: (resend) => progressText(view, resend), isNumber: true },
      countColumn(view, t.counts.exhausted, ({ exhaustedCount }) => exhaustedCount),
    ],
    resends,
    t.none,
  );
  return html`<div class="wide">${table}</div>`;
}

function progressOf(view: View, resend: Resend): Html {
  const t = textsFor(view, resendsTexts);
  const all = expectedOf(resend);
  const isRunning = resend.state === ResendState.RUNNING;
  const isIdle = all === 0n && !isRunning;
  const { succeededCount, openCount, exhaustedCount, canceledCount } = resend;
  const counts = (
    [
      [t.counts.expected, all, isRunning],
      [t.counts.made, resend.madeCount, isRunning],
      [t.counts.succeeded, succeededCount, true],
      // An attempt that is in progress while its resend is canceled still ends.
      [t.counts.open, openCount, isRunning || openCount > 0n],
      [t.counts.exhausted, exhaustedCount, true],
      [t.counts.canceled, canceledCount, true],
    ] as const
  ).filter(([, , isShown]) => isShown);
  return html`<div class="card"><p>${stateBadge(view, resend)} ${progressText(view, resend)}</p>
${all === 0n ? nothing : html`<progress max="${all}" value="${endedOf(resend)}" aria-label="${t.progress}">${progressText(view, resend)}</progress>`}
${isRunning ? html`<p class="soft">${t.waiting}</p>` : nothing}
${isIdle ? html`<p>${t.nothingToDo}</p>` : nothing}
<dl class="counts">${counts.map(([name, count]) => html`<div><dt>${name}</dt><dd>${view.format.number(count)}</dd></div>`)}</dl>
${resend.endedAt ? html`<p class="soft">${t.ended} ${moment(view, resend.endedAt)}</p>` : nothing}</div>`;
}

function actionsOf(view: View, { id, state }: Resend): Html {
  if (state !== ResendState.RUNNING || !canCall(view, DeliveryService.method.cancelResend)) return nothing;
  const t = textsFor(view, resendsTexts);
  return confirmForm(view, t.cancel, {
    action: `/resends/${id}/cancel`,
    submit: t.cancel,
    tone: 'danger',
    text: t.cancelText,
  });
}

/** The number of deliveries expected: the estimate from the start, unless more were created or the resend is complete. */
const expectedOf = ({ state, expectedCount, madeCount }: Resend) =>
  state !== ResendState.COMPLETED && expectedCount > madeCount ? expectedCount : madeCount;

const endedOf = ({ succeededCount, exhaustedCount, canceledCount }: Resend) =>
  succeededCount + exhaustedCount + canceledCount;

function progressText(view: View, resend: Resend): string {
  const [ended, all] = [endedOf(resend), expectedOf(resend)].map((count) => view.format.number(count));
  return textsFor(view, resendsTexts).done(ended!, all!);
}

function stateBadge(view: View, { state }: Resend): Html {
  const name = enumName(ResendState, state);
  return badge(TONES[name], textsFor(view, resendsTexts).states[name]);
}

function endpointLink(view: View, { subscriptionId }: Resend, endpoints: Endpoints | undefined): Html {
  if (subscriptionId === undefined) return html`${textsFor(view, resendsTexts).allEndpoints}`;
  const name = endpointName(endpoints?.get(subscriptionId)?.url, subscriptionId);
  return link(view, `/webhooks/${subscriptionId}`, name);
}
