import type { Timestamp } from '@bufbuild/protobuf/wkt';

const SECONDS_PER_DAY = 86_400;
const MAX_DAYS_KEPT = 5_000;

const padded = (count: number, length: number) =>
  Array.from({ length: count }, (_, value) => String(value).padStart(length, '0'));
const TWO_DIGITS = padded(100, 2);
const THREE_DIGITS = padded(1_000, 3);

const dates = new Map<number, string>();

/** A timestamp as the JSON API writes it: UTC, milliseconds, Z. Lists write hundreds per answer, hence no Date. */
export function jsonTimestamp({ seconds, nanos }: Timestamp): string {
  const total = Number(seconds);
  const day = Math.floor(total / SECONDS_PER_DAY);
  const second = total - day * SECONDS_PER_DAY;
  const hour = TWO_DIGITS[Math.floor(second / 3_600)];
  const minute = TWO_DIGITS[Math.floor(second / 60) % 60];
  return `${dateOf(day)}T${hour}:${minute}:${TWO_DIGITS[second % 60]}.${THREE_DIGITS[Math.floor(nanos / 1_000_000)]}Z`;
}

/** The same for a timestamp that may be missing: undefined, so that its member is left out. */
export function optionalTimestamp(timestamp: Timestamp | undefined): string | undefined {
  return timestamp === undefined ? undefined : jsonTimestamp(timestamp);
}

/** The same for a timestamp that may be missing, as null. */
export function nullableTimestamp(timestamp: Timestamp | undefined): string | null {
  return timestamp === undefined ? null : jsonTimestamp(timestamp);
}

function dateOf(day: number): string {
  let date = dates.get(day);
  if (date === undefined) {
    if (dates.size >= MAX_DAYS_KEPT) dates.clear();
    date = new Date(day * SECONDS_PER_DAY * 1_000).toISOString().slice(0, 10);
    dates.set(day, date);
  }
  return date;
}
