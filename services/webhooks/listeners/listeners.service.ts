import type { ServiceImpl } from '@connectrpc/connect';
import type { WebhookListenerService } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { AreaDependencies } from '../../platform/area.ts';
import { followEvents } from './follow-events.ts';
import { openListener } from './open-listener.ts';
import { reportListenerDelivery } from './report-listener-delivery.ts';
import { resendToListeners } from './resend-to-listeners.ts';
import { triggerEvent } from './trigger-event.ts';

/** The RPCs for programs on developers' machines. */
export function listenerService(dependencies: AreaDependencies): ServiceImpl<typeof WebhookListenerService> {
  const { writes } = dependencies;
  return {
    openListener: (request, context) => openListener(dependencies, request, context),
    reportListenerDelivery: (request, context) => reportListenerDelivery(writes, request, context),
    triggerEvent: (request, context) => triggerEvent(writes, request, context),
    resendToListeners: (request, context) => resendToListeners(dependencies, request, context),
    followEvents: (request, context) => followEvents(dependencies, request, context),
  };
}
