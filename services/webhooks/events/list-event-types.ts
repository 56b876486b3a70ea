import type { JsonObject } from '@bufbuild/protobuf';
import type { ListEventTypesResponse } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { EVENT_CATALOGUE } from './event-types/event-catalogue.ts';

const RESPONSE: ListEventTypesResponse = {
  $typeName: 'payments.webhooks.v1.ListEventTypesResponse',
  eventTypes: EVENT_CATALOGUE.map(({ name, description, schema, example }) => ({
    $typeName: 'payments.webhooks.v1.EventType',
    name,
    description,
    dataSchema: plain(schema),
    dataExample: plain(example),
  })),
};

/** The catalogue of event types. */
export const listEventTypes = (): ListEventTypesResponse => RESPONSE;

/** Drops the internal properties of TypeBox, which JSON omits. */
function plain(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
