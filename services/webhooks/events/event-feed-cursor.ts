import { invalidArgument, outOfRange } from '../../platform/errors.ts';
import { ENVIRONMENTS, type EnvironmentName } from '../../platform/tenant.ts';
import type { FeedPosition } from './event-feed.queries.ts';

/** Times by environment, in milliseconds since 1970. */
export type EnvironmentTimes = Readonly<Record<EnvironmentName, number>>;

/** Where a reader of the feed is. */
export interface FeedCursor extends FeedPosition {
  /** The reader has read every event published before this time, except those dropped before it started. */
  readonly readUntilMs: EnvironmentTimes;
}

/** Nineteen digits fit into 64 bits. The times have thirteen until 2286. */
const CURSOR =
  /^(\d{1,19})-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})-(\d{13})-(\d{13})$/;

/** The text of a cursor. */
export const formatCursor = ({ xid, id, readUntilMs }: FeedCursor): string =>
  [xid, id, readUntilMs.live, readUntilMs.test].join('-');

/** The cursor of a text. INVALID_ARGUMENT (INVALID_EVENT_CURSOR). */
export function parseCursor(text: string): FeedCursor {
  const [, xid, id, live, test] = CURSOR.exec(text) ?? [];
  if (xid === undefined || id === undefined) throw invalidCursor('is not a cursor of the event feed');
  return { xid, id, readUntilMs: { live: Number(live), test: Number(test) } };
}

/** Moves the times of some environments forward, never back. */
export function readUntil(
  times: EnvironmentTimes,
  timeMs: number,
  environments: readonly EnvironmentName[] = ENVIRONMENTS,
): EnvironmentTimes {
  const moved = environments.map((environment) => [environment, Math.max(times[environment], timeMs)]);
  return { ...times, ...Object.fromEntries(moved) };
}

/** OUT_OF_RANGE (EVENT_CURSOR_EXPIRED) when events that the reader has not read may have been dropped. */
export function requireKept(
  { readUntilMs }: FeedCursor,
  keptFromMs: EnvironmentTimes,
  environments: readonly EnvironmentName[],
): void {
  const environment = environments.find((each) => keptFromMs[each] > readUntilMs[each]);
  if (environment === undefined) return;
  const keptFrom = new Date(keptFromMs[environment]).toISOString();
  const message = `cursor: ${environment} events that follow it are no longer kept; start again without it`;
  throw outOfRange('EVENT_CURSOR_EXPIRED', message, { environment, keptFrom });
}

/** INVALID_ARGUMENT (INVALID_EVENT_CURSOR). */
export const invalidCursor = (fault: string) =>
  invalidArgument('INVALID_EVENT_CURSOR', `cursor: ${fault}`, { field: 'cursor' });
