import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** What an endpoint saw, in chronological order. */
export interface LogEntry {
  readonly kind: 'BEGUN' | 'ENDED';
  readonly eventId: string;
  readonly subscription: string;
}

/**
 * An answer of an endpoint that notes when each request begins and ends, and ends it with a status after a moment.
 * @param subscription names the subscription in the log.
 */
export function loggingAnswer(log: LogEntry[], subscription: string, nextStatus: () => number) {
  return async (eventId: string, response: ServerResponse): Promise<void> => {
    log.push({ kind: 'BEGUN', eventId, subscription });
    await delay(2);
    log.push({ kind: 'ENDED', eventId, subscription });
    response.writeHead(nextStatus()).end();
  };
}

/** The faults of a log: two deliveries of one object in flight to one subscription, or one after a later one. */
export function faultsOf(
  log: readonly LogEntry[],
  events: ReadonlyMap<string, { readonly objectId: string; readonly sequence: bigint }>,
): string[] {
  const lines = new Map<string, { inFlight: number; sequence: bigint }>();
  const faults: string[] = [];
  for (const { kind, eventId, subscription } of log) {
    const event = events.get(eventId);
    if (!event) continue;
    const name = `${subscription} ${event.objectId}`;
    const line = lines.get(name) ?? { inFlight: 0, sequence: 0n };
    lines.set(name, line);
    if (kind === 'ENDED') {
      line.inFlight -= 1;
      continue;
    }
    line.inFlight += 1;
    if (line.inFlight > 1) faults.push(`${name}: ${event.sequence} beside another`);
    if (event.sequence < line.sequence) faults.push(`${name}: ${event.sequence} after ${line.sequence}`);
    line.sequence = event.sequence;
  }
  return faults;
}
