import { createClient, type Transport } from '@connectrpc/connect';
import { AccountService } from '../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceService } from '../proto/gen/payments/advances/v1/advances_pb.js';
import { FundsService } from '../proto/gen/payments/funds/v1/funds_pb.js';
import { WorkflowCommandService } from '../proto/gen/payments/outbox/v1/outbox_pb.js';
import { RefundCaseService } from '../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  DeliveryService,
  WebhookSubscriptionService,
} from '../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { createNoticeActivities } from './accounts/notice.activities.ts';
import { mailLinks } from './accounts/notice-mail.ts';
import { createMailer, type MailConfig } from './accounts/smtp-mailer.ts';
import { createAdvanceActivities } from './advances/advance.activities.ts';
import { createAreaCheckActivities } from './area-check/area-check.activities.ts';
import { createFundsActivities } from './funds/funds.activities.ts';
import type { ProviderClients } from './provider-clients.ts';
import { createRefundActivities } from './refunds/refund.activities.ts';
import { createCommandActivities } from './relay/command.activities.ts';
import type { WorkflowClient } from './temporal/workflow-client.ts';
import { createDeliveryActivities } from './webhooks/delivery.activities.ts';
import type { Delivery } from './webhooks/delivery.ts';
import { createResendActivities } from './webhooks/resend.activities.ts';
import { createRetentionActivities } from './webhooks/retention.activities.ts';
import { startRetry } from './webhooks/start-deliveries.ts';

export interface ActivityDependencies {
  /** Calls the services as the caller `worker`. */
  readonly transport: Transport;
  readonly delivery: Delivery;
  readonly providers: ProviderClients;
  readonly temporal: WorkflowClient;
  readonly config: MailConfig;
}

/** All activities of this worker. Their names are unique across areas. */
export function createActivities(dependencies: ActivityDependencies) {
  const { transport, delivery, providers, temporal, config } = dependencies;
  const refunds = createClient(RefundCaseService, transport);
  const funds = createClient(FundsService, transport);
  const advances = createClient(AdvanceService, transport);
  const deliveries = createClient(DeliveryService, transport);
  const accounts = createClient(AccountService, transport);
  const subscriptions = createClient(WebhookSubscriptionService, transport);
  return {
    ...createCommandActivities(createClient(WorkflowCommandService, transport)),
    ...createRefundActivities({ refunds, funds, refundProvider: providers.refundProvider }),
    ...createFundsActivities({ advances, funds }),
    ...createAdvanceActivities({ advances, funds, payoutProvider: providers.payoutProvider }),
    ...createAreaCheckActivities({
      refunds,
      funds,
      advances,
      paysOut: providers.payoutProvider !== undefined,
    }),
    ...createDeliveryActivities({
      ...delivery,
      deliveries,
      startRetry: (retry) => startRetry(temporal, retry),
    }),
    ...createResendActivities({ dispatch: delivery.dispatch, deliveries }),
    ...createRetentionActivities(delivery),
    ...createNoticeActivities({
      accounts,
      subscriptions,
      sendMail: createMailer(config),
      links: mailLinks(config),
    }),
  };
}
