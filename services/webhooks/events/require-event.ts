import type { NamedParameters } from '../../platform/database/named-sql.ts';
import { notFound } from '../../platform/errors.ts';

/** NOT_FOUND (EVENT_NOT_FOUND): the merchant has no such event in this environment. */
export const eventNotFound = () => notFound('EVENT_NOT_FOUND', 'the event does not exist');

const FIND_EVENT = `
select id from webhooks.event
 where merchant_id = :merchantId and environment = :environment and id = :eventId`;

/** Throws if the merchant has no such event. NOT_FOUND (EVENT_NOT_FOUND). */
export async function requireEvent(
  execute: (sql: string, parameters: NamedParameters) => Promise<object[]>,
  eventId: string,
): Promise<void> {
  if ((await execute(FIND_EVENT, { eventId })).length === 0) throw eventNotFound();
}
