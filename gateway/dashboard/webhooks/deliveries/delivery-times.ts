import { type Timestamp, timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { ACCOUNT_TIME_ZONE } from '../../../../services/platform/civil-date.ts';

const LOCAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?$/;
const WITH_OFFSET = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/i;

/** As `<input type="datetime-local">` takes it. */
const wallClock = new Intl.DateTimeFormat('sv-SE', {
  timeZone: ACCOUNT_TIME_ZONE,
  calendar: 'iso8601',
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** A time as a control for dates and times shows it: 2026-11-21T14:05:00, in Brazil's time. */
export function localTime(at: Timestamp): string {
  return wallClock.format(timestampDate(at)).replace(' ', 'T');
}

/** What such a control sends, or RFC 3339; undefined for what is neither, and for a day that no calendar has. */
export function timeOf(text: string): Timestamp | undefined {
  if (LOCAL.test(text)) {
    const wallMs = Date.parse(`${text}Z`);
    if (Number.isNaN(wallMs) || !new Date(wallMs).toISOString().startsWith(text.slice(0, 16)))
      return undefined;
    // Twice, since the first guess may lie on the other side of a change of the offset.
    const guess = wallMs - offsetMs(wallMs);
    return timestampFromMs(wallMs - offsetMs(guess));
  }
  const ms = WITH_OFFSET.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : timestampFromMs(ms);
}

/** How far Brazil's clocks are ahead of UTC at an instant, less than nothing as a rule. */
function offsetMs(ms: number): number {
  const second = Math.floor(ms / 1_000) * 1_000;
  return Date.parse(`${wallClock.format(second).replace(' ', 'T')}Z`) - second;
}
