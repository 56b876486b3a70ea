import type { ServiceImpl } from '@connectrpc/connect';
import type { DeliveryService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { AreaDependencies } from '../platform/area.ts';
import { getDelivery } from './get-delivery.ts';
import { listDeliveries } from './list-deliveries.ts';
import { workflowLink } from './workflow-link.ts';

/** The RPCs about deliveries. */
export function deliveryService({
  config,
  database,
  pagination,
}: AreaDependencies): ServiceImpl<typeof DeliveryService> {
  const link = workflowLink(config);
  return {
    listDeliveries: (request) => listDeliveries(database, pagination, link, request),
    getDelivery: (request) => getDelivery(database, link, request),
  };
}
