import { failedPrecondition } from '../../platform/errors.ts';

/** A stored secret's times, which determine whether it signs. */
export interface SecretTimes {
  /** Absent: the current one. */
  readonly expiresAt?: Date | null;
  /** Absent: it was never revealed, so no receiver verifies with it. */
  readonly revealedAt?: Date | null;
}

/** The most secrets of a subscription that sign at a time; each adds a signature to every delivery. */
const MAX_SIGNING = 3;

/** When an earlier secret stops signing after another becomes current at `now`: never later than before. */
export function endOfEarlierSecret(secret: SecretTimes, now: Date, overlapMs: number): Date {
  if (!secret.revealedAt) return now;
  const end = new Date(now.getTime() + overlapMs);
  return secret.expiresAt && secret.expiresAt < end ? secret.expiresAt : end;
}

/** Throws if there are too many earlier secrets for another one. SIGNING_SECRET_LIMIT_REACHED. */
export function requireBelowSecretLimit(earlierEnds: readonly Date[], now: Date): void {
  const signing = earlierEnds.filter((end) => end > now).sort((a, b) => a.getTime() - b.getTime());
  if (signing.length < MAX_SIGNING) return;
  throw failedPrecondition(
    'SIGNING_SECRET_LIMIT_REACHED',
    `at most ${MAX_SIGNING} signing secrets of a subscription sign at a time`,
    { free_at: signing[0]!.toISOString() },
  );
}
