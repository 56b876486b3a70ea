import type { Timestamp } from '@bufbuild/protobuf/wkt';

const NANOS_PER_MS = 1_000_000;

/** The time in a UUIDv7, its first 48 bits: milliseconds since 1970. */
export const idTimeMs = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/**
 * The smallest UUIDv7 of a time: ids created at or after the time are not smaller, ids created before it are. Ids have
 * millisecond precision, so the time is rounded up to a millisecond; times before 1970 count as 1970.
 */
export function firstIdFrom({ seconds, nanos }: Timestamp): string {
  const ms = Math.max(Number(seconds) * 1_000 + Math.ceil(nanos / NANOS_PER_MS), 0);
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
