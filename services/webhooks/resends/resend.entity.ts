import { defineEntity, type InferEntity, p } from '@mikro-orm/postgresql';
import { tenantColumns, timestampColumn } from '../../platform/database/tenant-columns.ts';

export type ResendStateName = 'RUNNING' | 'COMPLETED' | 'CANCELED';

export const ResendEntity = defineEntity({
  name: 'Resend',
  tableName: 'resend',
  schema: 'webhooks',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    eventId: p.uuid().strictNullable(),
    eventRequestId: p.text().strictNullable(),
    periodFrom: timestampColumn().strictNullable(),
    periodTo: timestampColumn().strictNullable(),
    missedFrom: p.bigint('bigint').strictNullable(),
    missedBefore: p.bigint('bigint').strictNullable(),
    subscriptionId: p.uuid().strictNullable(),
    onlyFailed: p.boolean(),
    skipNeverSent: p.boolean(),
    state: p.string().$type<ResendStateName>(),
    requestId: p.text(),
    createdAt: timestampColumn(),
    endedAt: timestampColumn().strictNullable(),
    afterEventId: p.uuid(),
    afterSubscriptionId: p.uuid(),
    lastEventId: p.uuid(),
    expectedCount: p.bigint('bigint'),
    madeCount: p.bigint('bigint'),
    succeededCount: p.bigint('bigint'),
    exhaustedCount: p.bigint('bigint'),
    canceledCount: p.bigint('bigint'),
    openIds: p.array(),
  },
});

export type ResendRow = InferEntity<typeof ResendEntity>;
