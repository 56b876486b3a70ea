import {
  DeliveryService,
  type WebhookSubscription,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { breadcrumbs } from '../../shell/breadcrumbs.ts';
import { reasonOf } from '../../shell/failures.ts';
import { html } from '../../shell/html.ts';
import type { Pages } from '../../shell/pages.ts';
import { type Page, textsFor, type View } from '../../shell/view.ts';
import { deliveriesBreadcrumb, endpointBreadcrumb } from '../breadcrumbs.ts';
import { webhookGuide } from '../guide-links.ts';
import { readSubscription } from '../subscriptions/subscription-reads.ts';
import {
  lastDay,
  parseSelection,
  type ResendFaults,
  ResendFields,
  type ResendValues,
  resendForms,
  scopeFields,
} from './resend-form.ts';
import { resendsTexts } from './resends.texts.ts';

const PATH = '/webhooks/:subscriptionId/resends';

/** The page with the resend forms, and the action of a confirmed resend. */
export function resendActions(pages: Pages): void {
  const spec = { path: PATH, rpc: DeliveryService.method.resendDeliveries, section: 'webhooks' } as const;

  pages.page({ ...spec, query: ResendFields }, async (view, { params, query }) =>
    formPage(
      view,
      await readSubscription(view, params.subscriptionId!),
      Object.keys(query).length > 0 ? query : lastDay(),
    ),
  );

  const options = { ...spec, form: ResendFields, refusals: resendsTexts } as const;
  pages.action(options, async (view, { params, form, key }) => {
    const subscriptionId = params.subscriptionId!;
    const parsed = parseSelection(form);
    if ('faults' in parsed) {
      return formPage(view, await readSubscription(view, subscriptionId), form, parsed.faults);
    }
    try {
      const { resend } = await view.clients.deliveries.resendDeliveries({
        idempotencyKey: key,
        subscriptionId,
        selection: parsed.selection,
        ...scopeFields(form.scope ?? 'failed'),
      });
      return { redirect: `/resends/${resend!.id}`, notice: 'begun' };
    } catch (error) {
      const faults = faultsOf(error);
      if (!faults) throw error;
      return formPage(view, await readSubscription(view, subscriptionId), form, faults);
    }
  });
}

/** The field faults of a refused call; undefined when it concerns something else. */
export function faultsOf(error: unknown): ResendFaults | undefined {
  const reason = reasonOf(error);
  if (reason === 'RESEND_SELECTION') return { to: 'order' };
  return reason === 'EVENT_NOT_FOUND' ? { event_id: 'event' } : undefined;
}

/** The resend forms, with the faults of what was submitted. */
export function formPage(
  view: View,
  subscription: WebhookSubscription,
  values: ResendValues,
  faults?: ResendFaults,
): Page {
  return {
    title: textsFor(view, resendsTexts).form.title,
    ...(faults && { status: 422 }),
    body: html`${breadcrumbs(view, 'webhooks', endpointBreadcrumb(subscription), deliveriesBreadcrumb(view, subscription))}${resendForms(view, subscription, values, faults)}${webhookGuide(view, 'duplicates-and-order')}`,
  };
}
