import {
  type Attempt,
  type Delivery,
  DeliveryStatus,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { type Html, html, nothing } from '../../shell/html.ts';
import { pathTo, textsFor, type View } from '../../shell/view.ts';
import { attemptResultText, dueText, latencyText, statusBadge } from '../deliveries/delivery.components.ts';
import { subscriptionTexts } from './subscriptions.texts.ts';

export async function testOutcome(view: View, subscriptionId: string, eventId: string): Promise<Html> {
  const t = textsFor(view, subscriptionTexts).test;
  const request = { subscriptionId, eventId, pageSize: 1, withLastAttempt: true };
  const [delivery] = (await view.clients.deliveries.listDeliveries(request)).deliveries;
  const event = html`<p class="hint">${t.event} <code>${eventId}</code></p>`;
  return delivery ? html`${outcome(view, delivery)}${event}` : html`<p>${t.onItsWay}</p>${event}`;
}

function outcome(view: View, delivery: Delivery): Html {
  const t = textsFor(view, subscriptionTexts).test;
  const { id, status, lastAttempt, nextAttemptAt } = delivery;
  const waitText = new Map([
    [DeliveryStatus.PENDING, t.onItsWay],
    [DeliveryStatus.HELD, t.held],
    [DeliveryStatus.BLOCKED, t.blocked],
  ]).get(status);
  const next = status === DeliveryStatus.RETRYING && nextAttemptAt;
  return html`<p>${statusBadge(view, delivery)} ${lastAttempt ? attemptText(view, lastAttempt) : nothing}
${waitText ?? nothing}
${next ? html`${t.next} ${dueText(view, nextAttemptAt)}` : nothing}
<a href="${pathTo(view, `/deliveries/${id}`)}">${t.open}</a></p>`;
}

function attemptText(view: View, attempt: Attempt): Html {
  const t = textsFor(view, subscriptionTexts).test;
  const latency = latencyText(view, attempt);
  return html`${t.attempt(view.format.number(attempt.number))} ${attemptResultText(view, attempt)}${latency ? html` <span class="soft">${latency}</span>` : nothing}.`;
}
