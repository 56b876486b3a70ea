import type { JsonObject } from '@bufbuild/protobuf';
import type { Event } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { environmentEnum } from '../../platform/tenant.ts';
import type { EventReadRow } from './event.queries.ts';

export function eventMessage(row: EventReadRow): Event {
  return {
    $typeName: 'payments.webhooks.v1.Event',
    id: row.id,
    merchantId: row.merchant_id,
    environment: environmentEnum(row.environment),
    type: row.type,
    objectId: row.object_id,
    sequence: row.sequence,
    requestId: row.request_id,
    timestamp: row.occurred_at,
    data: JSON.parse(row.data) as JsonObject,
  };
}
