import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../services/platform/durations.ts';

/** The moment this many milliseconds before now. */
export const ago = (ms: number) => timestampFromMs(Date.now() - ms);
export const minutesAgo = (minutes: number) => ago(minutes * MINUTE_MS);
export const hoursAgo = (hours: number) => ago(hours * HOUR_MS);
export const daysAgo = (days: number) => ago(days * DAY_MS);
