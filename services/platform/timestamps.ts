import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';

/** Converts a Date to a protobuf Timestamp; undefined for a missing date, so that an unset field stays unset. */
export function timestampOf(date: Date): Timestamp;
export function timestampOf(date: Date | null | undefined): Timestamp | undefined;
export function timestampOf(date: Date | null | undefined): Timestamp | undefined {
  return date ? timestampFromDate(date) : undefined;
}

/** The later of two times: a change never moves a row's timestamp backwards. */
export const later = (before: Date, now: Date): Date => (now > before ? now : before);
