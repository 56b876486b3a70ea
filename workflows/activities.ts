import { createClient, type Transport } from '@connectrpc/connect';
import { AdvanceService } from '../proto/gen/payments/advances/v1/advances_pb.js';
import { FundsService } from '../proto/gen/payments/funds/v1/funds_pb.js';
import { RefundCaseService } from '../proto/gen/payments/refunds/v1/refunds_pb.js';
import { DeliveryService } from '../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { createAdvanceActivities } from './advances/advance.activities.ts';
import { createFundsActivities } from './funds/funds.activities.ts';
import { createRefundActivities } from './refunds/refund.activities.ts';
import { createDeliveryActivities } from './webhooks/delivery.activities.ts';
import type { MakeAttemptsDeps } from './webhooks/make-attempts.ts';
import { createResendActivities } from './webhooks/resend.activities.ts';
import { createRetentionActivities } from './webhooks/retention.activities.ts';

export interface ActivityDependencies {
  /** To the services, as the worker. */
  readonly transport: Transport;
  readonly delivery: MakeAttemptsDeps;
}

/** Every activity of this worker. Their names are unique over all areas. */
export function createActivities({ transport, delivery }: ActivityDependencies) {
  const refunds = createClient(RefundCaseService, transport);
  const funds = createClient(FundsService, transport);
  const advances = createClient(AdvanceService, transport);
  const deliveries = createClient(DeliveryService, transport);
  return {
    ...createRefundActivities({ refunds, funds }),
    ...createFundsActivities({ advances, funds }),
    ...createAdvanceActivities({ advances, funds }),
    ...createDeliveryActivities({ ...delivery, deliveries }),
    ...createResendActivities({ dispatch: delivery.dispatch, deliveries }),
    ...createRetentionActivities(delivery),
  };
}
