import {
  DeliveryService,
  DispatchService,
  EventService,
  WebhookListenerService,
  WebhookSubscriptionService,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Area } from '../platform/area.ts';
import { createEnvironmentGuards, type EnvironmentGuards } from '../platform/egress/environment-guards.ts';
import type { ServicesConfig } from '../platform/process/config.ts';
import { bindService } from '../platform/rpc/service-binding.ts';
import { deliveryService } from './deliveries/deliveries.service.ts';
import { DeliveryEntity } from './deliveries/delivery.entity.ts';
import { dispatchService } from './dispatch/dispatch.service.ts';
import { eventService } from './events/events.service.ts';
import { listenerService } from './listeners/listeners.service.ts';
import { ResendEntity } from './resends/resend.entity.ts';
import { SigningSecretEntity, SubscriptionEntity } from './subscriptions/subscription.entity.ts';
import { subscriptionService } from './subscriptions/subscriptions.service.ts';

/**
 * @param createGuards creates the egress guards; tests use it to replace name resolution.
 */
export function webhooksArea(
  createGuards: (config: ServicesConfig) => EnvironmentGuards = createEnvironmentGuards,
): Area {
  return {
    name: 'webhooks',
    entities: [SubscriptionEntity, SigningSecretEntity, DeliveryEntity, ResendEntity],
    grants: [],
    bind: (dependencies) => [
      bindService(
        WebhookSubscriptionService,
        subscriptionService(dependencies, createGuards(dependencies.config)),
      ),
      bindService(EventService, eventService(dependencies)),
      bindService(DeliveryService, deliveryService(dependencies)),
      bindService(WebhookListenerService, listenerService(dependencies)),
      bindService(DispatchService, dispatchService(dependencies)),
    ],
  };
}

export const webhooks = webhooksArea();
