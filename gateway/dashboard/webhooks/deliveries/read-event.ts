import type { Event } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { unlessRefused } from '../../../../services/platform/rpc/connect-errors.ts';
import type { View } from '../../shell/view.ts';

/** Reads an event; undefined if there is none, or once its retention period has ended. */
export async function readEvent(view: View, eventId: string): Promise<Event | undefined> {
  const read = await unlessRefused(view.clients.events.getEvent({ eventId }), { EVENT_NOT_FOUND: undefined });
  return read?.event;
}
