import type { ServiceImpl } from '@connectrpc/connect';
import type { EventService } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { AreaDependencies } from '../../platform/area.ts';
import { CrossTenantDatabase } from '../../platform/database/cross-tenant-database.ts';
import { EventIntake } from './event-intake.ts';
import { getEvent } from './get-event.ts';
import { getEventFeed } from './get-event-feed.ts';
import { listEventFeed } from './list-event-feed.ts';
import { listEventTypes } from './list-event-types.ts';
import { listEvents } from './list-events.ts';
import { publishEvent, publishEvents } from './publish-events.ts';

/** The RPCs about events. */
export function eventService(dependencies: AreaDependencies): ServiceImpl<typeof EventService> {
  const { database, outboxSignal, pagination, stopping, writes, logger } = dependencies;
  const db = new CrossTenantDatabase(database);
  const intake = new EventIntake(db, outboxSignal, logger);
  return {
    publishEvent: (request, context) => publishEvent(intake, writes, request, context),
    publishEvents: (request, context) => publishEvents(intake, writes, request, context),
    getEvent: (request) => getEvent(database, request),
    listEvents: (request) => listEvents(pagination, request),
    listEventFeed: (request) => listEventFeed(database, request),
    getEventFeed: (request, context) => getEventFeed({ database, stopping }, request, context),
    listEventTypes,
  };
}
