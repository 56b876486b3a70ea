import type { EnvironmentName } from '../../platform/tenant.ts';

/** A delivery as statements return it. */
interface DeliveryRow {
  readonly id: string;
  readonly event_id: string;
  readonly subscription_id: string;
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly request_id?: string;
}

/** The fields of every log line about a delivery. */
export const deliveryLogFields = (row: DeliveryRow) => ({
  deliveryId: row.id,
  eventId: row.event_id,
  subscriptionId: row.subscription_id,
  merchantId: row.merchant_id,
  environment: row.environment,
  requestId: row.request_id,
});
