import { defineEntity, type InferEntity, p } from '@mikro-orm/postgresql';
import { tenantColumns, timestampColumn } from '../../platform/database/tenant-columns.ts';
import type { DeliveryStatusName } from './delivery.ts';

/** All deliveries, open and ended: a read-only view. */
export const DeliveryEntity = defineEntity({
  name: 'Delivery',
  tableName: 'delivery',
  schema: 'webhooks',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    subscriptionId: p.uuid(),
    eventId: p.uuid(),
    eventType: p.text(),
    objectId: p.text(),
    sequence: p.bigint('bigint'),
    requestId: p.text(),
    resendId: p.uuid().nullable(),
    ordered: p.boolean(),
    status: p.string().$type<DeliveryStatusName>(),
    attemptCount: p.integer(),
    nextAttemptAt: timestampColumn().nullable(),
    endedAt: timestampColumn().nullable(),
    workflowId: p.text().nullable(),
  },
});

export type DeliveryRow = InferEntity<typeof DeliveryEntity>;
