import {
  DeliveryService,
  DispatchService,
  EventService,
  WebhookSubscriptionService,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Area } from '../platform/area.ts';
import type { Config } from '../platform/config.ts';
import { createEnvironmentGuards, type EnvironmentGuards } from '../platform/egress/environment-guards.ts';
import { bindService } from '../platform/service-binding.ts';
import { disabledBacklogs } from './cancel-backlog.ts';
import { deliveryService } from './deliveries.service.ts';
import { DeliveryEntity } from './delivery.entity.ts';
import { dispatchService } from './dispatch/dispatch.service.ts';
import { eventService } from './events.service.ts';
import { webhookPartitionsAhead } from './partitions.ts';
import { ResendEntity } from './resend.entity.ts';
import { SigningSecretEntity, SubscriptionEntity } from './subscription.entity.ts';
import { subscriptionService } from './subscriptions.service.ts';

/** @param createGuards of what subscriptions may point at; a test has names resolve as it likes. */
export function webhooksArea(
  createGuards: (config: Config) => EnvironmentGuards = createEnvironmentGuards,
): Area {
  return {
    name: 'webhooks',
    entities: [SubscriptionEntity, SigningSecretEntity, DeliveryEntity, ResendEntity],
    grants: [],
    maintenance: [webhookPartitionsAhead, disabledBacklogs],
    bind: (dependencies) => [
      bindService(
        WebhookSubscriptionService,
        subscriptionService(dependencies, createGuards(dependencies.config)),
      ),
      bindService(EventService, eventService(dependencies)),
      bindService(DeliveryService, deliveryService(dependencies)),
      bindService(DispatchService, dispatchService(dependencies)),
    ],
  };
}

export const webhooks = webhooksArea();
