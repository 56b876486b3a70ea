import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { ApiKey } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { DAY_MS } from './durations.ts';

/** How many days before a key expires its merchant is notified: early enough to replace it, and a last time. */
export const EXPIRY_NOTICE_DAYS = { early: 7, last: 1 } as const;

/** When the notice of a key's expiry that comes some days before it is due. */
export const expiryNoticeAt = (expiresAt: Date, days: number): Date =>
  new Date(expiresAt.getTime() - days * DAY_MS);

/** Whether the first notice of a key's expiry is due. */
export const expiresSoon = (expiresAt: Date, now: Date): boolean =>
  expiryNoticeAt(expiresAt, EXPIRY_NOTICE_DAYS.early) <= now;

/** An active key that was replaced by a rotation. */
export interface ReplacedKey {
  readonly rotatedAt: Date;
  /** The end of the overlap. */
  readonly expiresAt: Date;
  readonly lastUsedAt: Date | undefined;
}

/** Undefined for a key without a successor. */
export function replacedKeyOf({ rotatedAt, expiresAt, lastUsedAt }: ApiKey): ReplacedKey | undefined {
  if (!rotatedAt || !expiresAt) return undefined;
  return {
    rotatedAt: timestampDate(rotatedAt),
    expiresAt: timestampDate(expiresAt),
    lastUsedAt: lastUsedAt && timestampDate(lastUsedAt),
  };
}

/** When the notice of a replaced key that is still used is due: a day before it ends, or halfway through a shorter overlap. */
export function replacedNoticeAt({ rotatedAt, expiresAt }: ReplacedKey): Date {
  const overlapMs = expiresAt.getTime() - rotatedAt.getTime();
  return new Date(expiresAt.getTime() - Math.min(DAY_MS, overlapMs / 2));
}

/** Whether `replacedNoticeAt` has come, as an SQL condition on a replaced API key. */
export const REPLACED_NOTICE_IS_DUE =
  "expires_at <= now() + interval '24 hours' and expires_at <= now() + (expires_at - rotated_at) / 2";

/**
 * Whether a replaced key was used so lately that a system must still have it: in the last day, or quarter of the overlap if that
 * is shorter, and after the rotation.
 */
export function isStillUsed({ rotatedAt, expiresAt, lastUsedAt }: ReplacedKey, now: Date): boolean {
  if (!lastUsedAt || lastUsedAt <= rotatedAt) return false;
  const overlapMs = expiresAt.getTime() - rotatedAt.getTime();
  return lastUsedAt.getTime() > now.getTime() - Math.min(DAY_MS, overlapMs / 4);
}

/** `isStillUsed` as an SQL condition on a replaced API key. */
export const IS_STILL_USED = `last_used_at > rotated_at
  and last_used_at > now() - least(interval '24 hours', (expires_at - rotated_at) / 4)`;
