import { createClient, type Transport } from '@connectrpc/connect';
import { AccountService } from '../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceService } from '../proto/gen/payments/advances/v1/advances_pb.js';
import { ApiKeyService } from '../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { FundsService } from '../proto/gen/payments/funds/v1/funds_pb.js';
import { WorkflowCommandService } from '../proto/gen/payments/outbox/v1/outbox_pb.js';
import { RefundCaseService } from '../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  DeliveryService,
  DispatchService,
  WebhookSubscriptionService,
} from '../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { mailLinks } from './accounts/mail-links.ts';
import { createNoticeActivities } from './accounts/notice.activities.ts';
import { createMailer, type MailConfig } from './accounts/smtp-mailer.ts';
import { createAdvanceActivities } from './advances/advance.activities.ts';
import { createAreaCheckActivities } from './area-check/area-check.activities.ts';
import { createFundsActivities } from './funds/funds.activities.ts';
import type { ProviderClients } from './provider-clients.ts';
import { createRefundActivities } from './refunds/refund.activities.ts';
import { createCommandActivities } from './relay/command.activities.ts';
import { createDeliveryActivities } from './webhooks/delivery.activities.ts';
import { createResendActivities } from './webhooks/resend.activities.ts';
import { createRetentionActivities } from './webhooks/retention.activities.ts';
import { workflowTransport } from './workflow-transport.ts';

export interface ActivityDependencies {
  /** Calls the services as the caller `worker`. */
  readonly transport: Transport;
  readonly providers: ProviderClients;
  readonly config: MailConfig;
}

/** All activities of this worker. Their names are unique across areas. */
export function createActivities(dependencies: ActivityDependencies) {
  const { providers, config } = dependencies;
  const transport = workflowTransport(dependencies.transport);
  const refunds = createClient(RefundCaseService, transport);
  const funds = createClient(FundsService, transport);
  const advances = createClient(AdvanceService, transport);
  const deliveries = createClient(DeliveryService, transport);
  const dispatch = createClient(DispatchService, transport);
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
    ...createDeliveryActivities({ dispatch, deliveries }),
    ...createResendActivities({ dispatch, deliveries }),
    ...createRetentionActivities({ dispatch }),
    ...createNoticeActivities({
      accounts,
      subscriptions,
      refunds,
      funds,
      advances,
      apiKeys: createClient(ApiKeyService, transport),
      sendMail: createMailer(config),
      links: mailLinks(config),
    }),
  };
}
