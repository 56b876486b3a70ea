/** How many days before a key expires its merchant is notified: early enough to replace it, and a last time. */
export const EXPIRY_NOTICE_DAYS = { early: 7, last: 1 } as const;

const DAY_MS = 86_400_000;

/** When the notice of a key's expiry that comes some days before it is due. */
export const expiryNoticeAt = (expiresAt: Date, days: number): Date =>
  new Date(expiresAt.getTime() - days * DAY_MS);

/** Whether the first notice of a key's expiry is due. */
export const expiresSoon = (expiresAt: Date, now: Date): boolean =>
  expiryNoticeAt(expiresAt, EXPIRY_NOTICE_DAYS.early) <= now;
