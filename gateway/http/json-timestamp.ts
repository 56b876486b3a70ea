import type { Timestamp } from '@bufbuild/protobuf/wkt';

const SECONDS_PER_DAY = 86_400;
const MAX_CACHED_DAYS = 5_000;

const padded = (count: number, length: number) =>
  Array.from({ length: count }, (_, value) => String(value).padStart(length, '0'));
const TWO_DIGITS = padded(100, 2);
const THREE_DIGITS = padded(1_000, 3);

const dates = new Map<number, string>();

/** Formats a timestamp for the JSON API: UTC, milliseconds, Z. Avoids Date, since a list response holds hundreds. */
export function jsonTimestamp({ seconds, nanos }: Timestamp): string {
  const total = Number(seconds);
  const day = Math.floor(total / SECONDS_PER_DAY);
  const second = total - day * SECONDS_PER_DAY;
  const hour = TWO_DIGITS[Math.floor(second / 3_600)];
  const minute = TWO_DIGITS[Math.floor(second / 60) % 60];
  return `${dateOf(day)}T${hour}:${minute}:${TWO_DIGITS[second % 60]}.${THREE_DIGITS[Math.floor(nanos / 1_000_000)]}Z`;
}

/** Like `jsonTimestamp`; undefined for a missing timestamp, which omits its member. */
export function optionalTimestamp(timestamp: Timestamp | undefined): string | undefined {
  return timestamp === undefined ? undefined : jsonTimestamp(timestamp);
}

/** Like `jsonTimestamp`; null for a missing timestamp. */
export function nullableTimestamp(timestamp: Timestamp | undefined): string | null {
  return timestamp === undefined ? null : jsonTimestamp(timestamp);
}

function dateOf(day: number): string {
  let date = dates.get(day);
  if (date === undefined) {
    if (dates.size >= MAX_CACHED_DAYS) dates.clear();
    date = new Date(day * SECONDS_PER_DAY * 1_000).toISOString().slice(0, 10);
    dates.set(day, date);
  }
  return date;
}
