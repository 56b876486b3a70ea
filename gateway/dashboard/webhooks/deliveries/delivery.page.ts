import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  DeliveryService,
  DeliveryStatus,
  type Event,
  WebhookSubscriptionState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { PING_TYPE } from '../../../../services/contracts/webhooks/ping-type.ts';
import { breadcrumbs } from '../../shell/breadcrumbs.ts';
import { confirmForm, copyable, details, form, link, moment, NONE } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { liveRegion } from '../../shell/live.ts';
import type { Pages } from '../../shell/pages.ts';
import { canCall, type Page, pathTo, textsFor, type View } from '../../shell/view.ts';
import { deliveriesBreadcrumb, endpointBreadcrumb } from '../breadcrumbs.ts';
import { webhookGuide } from '../guide-links.ts';
import { findSubscription } from '../subscriptions/subscription-reads.ts';
import { dueText, isScheduled, statusBadge } from './delivery.components.ts';
import { deliveryTexts } from './delivery.texts.ts';
import { attemptsList } from './delivery-attempts.ts';
import { type DeliveryDetails, statusReasonText } from './delivery-reasons.ts';
import { readEvent } from './read-event.ts';

/** A delivery: its status with the reason, its attempts, and its event. */
export function deliveryPage(pages: Pages): void {
  const spec = { path: '/deliveries/:deliveryId', role: Role.VIEWER, section: 'webhooks' } as const;
  pages.page(spec, async (view, { params }) => {
    const details = await readDelivery(view, params.deliveryId!);
    return renderDelivery(view, details, await readEvent(view, details.delivery.eventId));
  });
}

async function readDelivery(view: View, deliveryId: string): Promise<DeliveryDetails> {
  const response = await view.clients.deliveries.getDelivery({ deliveryId });
  const delivery = response.delivery!;
  const { subscriptionId, resendId, status } = delivery;
  const isCanceledResend = status === DeliveryStatus.CANCELED && resendId !== undefined;
  const [subscription, resend] = await Promise.all([
    findSubscription(view, subscriptionId),
    isCanceledResend ? view.clients.deliveries.getResend({ resendId }) : undefined,
  ]);
  const { attempts, requestBody, expectedAttempts } = response;
  return { delivery, attempts, subscription, requestBody, expectedAttempts, resend: resend?.resend };
}

function renderDelivery(view: View, found: DeliveryDetails, event: Event | undefined): Page {
  const t = textsFor(view, deliveryTexts);
  const { subscription } = found;
  const live = {
    state: stateOf(view, found),
    actions: actionsOf(view, found),
    attempts: attemptsList(view, found.attempts, found.requestBody),
  };
  return {
    title: t.title(found.delivery.eventType),
    notices: t.notices,
    body: html`${breadcrumbs(view, 'webhooks', ...(subscription ? [endpointBreadcrumb(subscription)] : []), deliveriesBreadcrumb(view, subscription))}
${liveRegion('state', live.state)}
${liveRegion('actions', live.actions)}
<h2>${t.attempts}</h2>
${liveRegion('attempts', live.attempts)}
${webhookGuide(view, 'retries')}
<h2>${t.event}</h2>
${eventSection(view, found, event)}`,
    live,
  };
}

function stateOf(view: View, found: DeliveryDetails): Html {
  const t = textsFor(view, deliveryTexts);
  const { delivery, subscription } = found;
  const { status, nextAttemptAt, endedAt, resendId } = delivery;
  const pairs: (readonly [string, Html | string])[] = [];
  if (isScheduled(status) && nextAttemptAt) pairs.push([t.next, dueText(view, nextAttemptAt)]);
  pairs.push([
    t.endpoint,
    subscription ? link(view, `/webhooks/${subscription.id}`, subscription.url) : t.listener,
  ]);
  pairs.push([t.created, moment(view, delivery.createdAt)]);
  if (endedAt) pairs.push([t.ended, moment(view, endedAt)]);
  if (resendId) pairs.push([t.resend, link(view, `/resends/${resendId}`, t.seeResend)]);
  return html`<div class="card"><p>${statusBadge(view, delivery, subscription)} ${statusReasonText(view, found)}</p>${details(pairs)}${remainingAttempts(view, found)}</div>`;
}

/** The attempts after the next one, and when the delivery is given up. */
function remainingAttempts(view: View, { delivery, expectedAttempts }: DeliveryDetails): Html {
  const { status, attemptCount } = delivery;
  if (!isScheduled(status) || expectedAttempts.length === 0) return nothing;
  const t = textsFor(view, deliveryTexts);
  const items = expectedAttempts.map(
    (at, index) =>
      html`<li>${t.attempt(view.format.number(attemptCount + 1 + index))}: ${moment(view, at)}</li>`,
  );
  return html`<details data-key="remaining"><summary>${t.remaining(view.format.number(items.length))}</summary>
<ol class="remaining">${items}</ol><p class="hint">${t.remainingHint}</p></details>`;
}

/** The actions possible in the current status. A ping is not resent: another test event can be sent instead. */
function actionsOf(view: View, { delivery, subscription }: DeliveryDetails): Html {
  if (!canCall(view, DeliveryService.method.retryDelivery)) return nothing;
  const t = textsFor(view, deliveryTexts);
  const { id, status, endedAt, eventType } = delivery;
  const path = `/deliveries/${id}`;
  if (endedAt) {
    const canResend = subscription && subscription.state !== WebhookSubscriptionState.DISABLED;
    if (eventType === PING_TYPE || !canResend) return nothing;
    return html`${form(view, { action: `${path}/resend`, submit: t.resendOne })}<p class="hint">${t.resendHint}</p>`;
  }
  const waits = status === DeliveryStatus.RETRYING || status === DeliveryStatus.HELD;
  return html`${waits ? form(view, { action: `${path}/retry`, submit: t.retry }) : nothing}
${confirmForm(view, t.cancel, { action: `${path}/cancel`, submit: t.cancel, tone: 'danger', text: t.cancelText })}`;
}

function eventSection(
  view: View,
  { delivery, subscription }: DeliveryDetails,
  event: Event | undefined,
): Html {
  const t = textsFor(view, deliveryTexts);
  const { eventType, eventId, objectId, sequence, requestId } = delivery;
  const list = subscription ? `/webhooks/${subscription.id}/deliveries` : '/deliveries';
  const ofObject = `${list}?object=${encodeURIComponent(objectId)}`;
  return html`${details([
    [t.type, html`<code>${eventType}</code>`],
    [t.eventId, copyable(view, eventId)],
    [t.object, html`${copyable(view, objectId)} <a href="${pathTo(view, ofObject)}">${t.sameObject}</a>`],
    [t.sequence, view.format.number(sequence)],
    [t.request, copyable(view, requestId)],
    [t.published, event ? moment(view, event.timestamp) : NONE],
  ])}
<h3>${t.data}</h3>
${event ? html`<pre>${JSON.stringify(event.data ?? {}, undefined, 2)}</pre>` : html`<p class="empty">${t.eventGone}</p>`}`;
}
