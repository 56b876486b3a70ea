import type { ServiceImpl } from '@connectrpc/connect';
import type { DeliveryService } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { AreaDependencies } from '../../platform/area.ts';
import { getDeliveryStatistics } from '../health/get-delivery-statistics.ts';
import { cancelResend } from '../resends/cancel-resend.ts';
import { getResend } from '../resends/get-resend.ts';
import { listResends } from '../resends/list-resends.ts';
import { previewResend } from '../resends/preview-resend.ts';
import { resendDeliveries } from '../resends/resend-deliveries.ts';
import { workflowLink } from '../workflow-link.ts';
import { cancelDelivery } from './cancel-delivery.ts';
import type { DeliveryDependencies } from './delivery-dependencies.ts';
import { getDelivery } from './get-delivery.ts';
import { listDeliveries } from './list-deliveries.ts';
import { retryDelivery } from './retry-delivery.ts';

/** The RPCs about deliveries. */
export function deliveryService({
  config,
  database,
  pagination,
  writes,
}: AreaDependencies): ServiceImpl<typeof DeliveryService> {
  const schedules = { live: config.WEBHOOK_SCHEDULE_LIVE, test: config.WEBHOOK_SCHEDULE_SANDBOX };
  const deps: DeliveryDependencies = { database, pagination, writes, link: workflowLink(config), schedules };
  return {
    listDeliveries: (request) => listDeliveries(deps, request),
    getDelivery: (request) => getDelivery(deps, request),
    retryDelivery: (request, context) => retryDelivery(deps, request, context),
    cancelDelivery: (request, context) => cancelDelivery(deps, request, context),
    resendDeliveries: (request, context) => resendDeliveries(deps, request, context),
    previewResend: (request) => previewResend(database, request),
    getDeliveryStatistics: (request) => getDeliveryStatistics(database, request),
    getResend: (request) => getResend(deps, request),
    listResends: (request) => listResends(deps, request),
    cancelResend: (request, context) => cancelResend(deps, request, context),
  };
}
