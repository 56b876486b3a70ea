import type { ServiceImpl } from '@connectrpc/connect';
import type { EventService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { AreaDependencies } from '../platform/area.ts';
import { getEvent } from './get-event.ts';
import { listEventTypes } from './list-event-types.ts';
import { publishEvent } from './publish-event.ts';

/** The RPCs about events. */
export function eventService({ database, writes }: AreaDependencies): ServiceImpl<typeof EventService> {
  return {
    publishEvent: (request, context) => publishEvent(writes, request, context),
    getEvent: (request) => getEvent(database, request),
    listEventTypes,
  };
}
