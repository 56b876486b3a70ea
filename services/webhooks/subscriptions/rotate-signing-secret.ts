import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import type {
  RotateSigningSecretRequest,
  RotateSigningSecretResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import type { Config } from '../../platform/process/config.ts';
import { timestampOf } from '../../platform/timestamps.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { endOfEarlierSecret, requireBelowSecretLimit } from './secret-rotation.ts';
import { newSigningSecret, sealSecret } from './signing-secret.ts';
import { SigningSecretEntity } from './subscription.entity.ts';
import { storedSubscriptionMessage } from './subscription.message.ts';
import { lockSubscription } from './subscription-store.ts';

interface Dependencies {
  readonly config: Pick<Config, 'WEBHOOK_ROTATION_OVERLAP' | 'WEBHOOK_SECRET_KEYS'>;
  readonly writes: Writes;
}

/** Creates a new current secret; earlier ones keep signing for the overlap. The response contains no secret. */
export function rotateSigningSecret(
  { config, writes }: Dependencies,
  request: RotateSigningSecretRequest,
  context: HandlerContext,
) {
  const { overlapSeconds } = request;
  const overlapMs = overlapSeconds === undefined ? config.WEBHOOK_ROTATION_OVERLAP : overlapSeconds * 1_000;
  return writes.run<typeof RotateSigningSecretResponseSchema>(request, context, async (tx) => {
    const subscription = await lockSubscription(tx, request.subscriptionId);
    const now = new Date();
    const overlapEndsAt = await endEarlierSecrets(tx, subscription.id, now, overlapMs);
    const owner = { ...tx.tenant, subscriptionId: subscription.id };
    tx.create(SigningSecretEntity, {
      id: uuidv7(),
      subscriptionId: subscription.id,
      ...sealSecret(config.WEBHOOK_SECRET_KEYS, owner, newSigningSecret()),
      createdAt: now,
    });
    return {
      subscription: storedSubscriptionMessage(subscription),
      ...(overlapEndsAt && { overlapEndsAt: timestampOf(overlapEndsAt) }),
    };
  });
}

/** Sets the end of the existing secrets, and deletes those that no longer sign. Returns the latest end. */
async function endEarlierSecrets(
  tx: TenantTransaction,
  subscriptionId: string,
  now: Date,
  overlapMs: number,
): Promise<Date | undefined> {
  const earlier = await tx.lock(SigningSecretEntity, { subscriptionId }, { orderBy: { id: 'asc' } });
  const ends = earlier.map((secret) => endOfEarlierSecret(secret, now, overlapMs));
  requireBelowSecretLimit(ends, now);
  for (const [index, secret] of earlier.entries()) {
    if (ends[index]! > now) secret.expiresAt = ends[index]!;
    else tx.remove(secret);
  }
  // Flush now: the database allows only one current secret at any time.
  await tx.flush();
  return ends.filter((end) => end > now).sort((a, b) => b.getTime() - a.getTime())[0];
}
