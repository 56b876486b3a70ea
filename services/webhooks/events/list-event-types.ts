import type { JsonObject } from '@bufbuild/protobuf';
import type { ListEventTypesResponse } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { EVENT_CATALOG } from './event-types/event-catalog.ts';

const RESPONSE: ListEventTypesResponse = {
  $typeName: 'payments.webhooks.v1.ListEventTypesResponse',
  eventTypes: EVENT_CATALOG.map(({ name, description, schema, example }) => ({
    $typeName: 'payments.webhooks.v1.EventType',
    name,
    description,
    dataSchema: plain(schema),
    dataExample: plain(example),
  })),
};

export const listEventTypes = (): ListEventTypesResponse => RESPONSE;

/** Drops the internal properties of TypeBox, which JSON omits. */
function plain(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
