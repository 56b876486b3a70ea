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
  const link = workflowLink(config);
  const schedules = { live: config.WEBHOOK_SCHEDULE_LIVE, test: config.WEBHOOK_SCHEDULE_SANDBOX };
  return {
    listDeliveries: (request) => listDeliveries(database, pagination, link, request),
    getDelivery: (request) => getDelivery(database, link, schedules, request),
    retryDelivery: (request, context) => retryDelivery(writes, link, request, context),
    cancelDelivery: (request, context) => cancelDelivery(writes, link, request, context),
    resendDeliveries: (request, context) => resendDeliveries(writes, link, request, context),
    previewResend: (request) => previewResend(database, request),
    getDeliveryStatistics: (request) => getDeliveryStatistics(database, request),
    getResend: (request) => getResend(database, link, request),
    listResends: (request) => listResends(pagination, link, request),
    cancelResend: (request, context) => cancelResend(writes, link, request, context),
  };
}
