import type {
  GetDeliveryStatisticsRequest,
  GetDeliveryStatisticsResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { selectDeliveryHours } from './delivery-statistics.queries.ts';

/** How the attempts of the last 24 hours ended, by hour. */
export async function getDeliveryStatistics(
  database: Database,
  request: GetDeliveryStatisticsRequest,
): Promise<GetDeliveryStatisticsResponse> {
  const rows = await database.read(selectDeliveryHours(tenantOf(request)));
  return {
    $typeName: 'payments.webhooks.v1.GetDeliveryStatisticsResponse',
    hours: rows.map(({ starts_at, delivered, failed }) => ({
      $typeName: 'payments.webhooks.v1.DeliveryHour',
      startsAt: starts_at,
      delivered,
      failed,
    })),
  };
}
