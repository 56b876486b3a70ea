import { type Timestamp, timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { ACCOUNT_TIME_ZONE, isCivilDate } from '../../../../services/platform/civil-date.ts';

const LOCAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?$/;
const WITH_OFFSET = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/i;

/** 1000 to 2999: timestamps end with the year 9999 in UTC, and `Intl` writes early years with fewer digits. */
const YEARS = /^[12]\d{3}-/;

/** Formats for `<input type="datetime-local">`. */
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

/** A time as the value of a datetime-local input, in Brasília time: 2026-11-21T14:05:00. */
export function localTime(at: Timestamp): string {
  return wallClock.format(timestampDate(at)).replace(' ', 'T');
}

/**
 * Parses the value of a datetime-local input, or RFC 3339; undefined when malformed, not a real date, or outside the years
 * 1000 to 2999.
 */
export function timeOf(text: string): Timestamp | undefined {
  if (!YEARS.test(text)) return undefined;
  if (LOCAL.test(text)) {
    const wallMs = Date.parse(`${text}Z`);
    if (Number.isNaN(wallMs) || !new Date(wallMs).toISOString().startsWith(text.slice(0, 16)))
      return undefined;
    // Twice, as the UTC offset may change between the first guess and the result.
    const guess = wallMs - offsetMs(wallMs);
    return timestampFromMs(wallMs - offsetMs(guess));
  }
  // `Date.parse` takes February 30 for March 2.
  const ms = WITH_OFFSET.test(text) && isCivilDate(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : timestampFromMs(ms);
}

/** The offset of Brasília time from UTC at an instant; usually negative. */
function offsetMs(ms: number): number {
  const second = Math.floor(ms / 1_000) * 1_000;
  return Date.parse(`${wallClock.format(second).replace(' ', 'T')}Z`) - second;
}
