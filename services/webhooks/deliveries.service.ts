import type { ServiceImpl } from '@connectrpc/connect';
import type { DeliveryService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { AreaDependencies } from '../platform/area.ts';
import { getDelivery } from './get-delivery.ts';
import { listDeliveries } from './list-deliveries.ts';

/** The RPCs about deliveries. */
export function deliveryService({
  database,
  pagination,
}: AreaDependencies): ServiceImpl<typeof DeliveryService> {
  return {
    listDeliveries: (request) => listDeliveries(database, pagination, request),
    getDelivery: (request) => getDelivery(database, request),
  };
}
