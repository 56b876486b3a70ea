import { createHash } from 'node:crypto';
import type { HandlerContext } from '@connectrpc/connect';
import type {
  RevealSigningSecretRequest,
  RevealSigningSecretResponse,
  RevealSigningSecretResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { failedPrecondition } from '../../platform/errors.ts';
import type { KeyRing } from '../../platform/key-ring.ts';
import { callerOf } from '../../platform/rpc/call-context.ts';
import { tenantOf } from '../../platform/tenant.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { openSecret } from './signing-secret.ts';
import { SigningSecretEntity, type SigningSecretRow } from './subscription.entity.ts';
import { lockSubscription } from './subscription-store.ts';

const REPEATED_FOR_MS = 5 * 60_000;

/**
 * Returns the current secret once. The idempotency record does not contain the secret: a replay within five minutes reads
 * it again.
 */
export async function revealSigningSecret(
  writes: Writes,
  keys: KeyRing,
  request: RevealSigningSecretRequest,
  context: HandlerContext,
): Promise<RevealSigningSecretResponse> {
  const revealedWith = createHash('sha256')
    .update(`${callerOf(context.values)?.name}\n${request.idempotencyKey}`)
    .digest();
  const answer = await writes.run<typeof RevealSigningSecretResponseSchema>(
    request,
    context,
    async (tx) => {
      const { id } = await lockSubscription(tx, request.subscriptionId);
      const secret = await tx.lockOne(SigningSecretEntity, { subscriptionId: id, expiresAt: null });
      if (!secret || secret.revealedAt) throw alreadyRevealed();
      secret.revealedAt = new Date();
      secret.revealedWith = revealedWith;
      return { signingSecret: open(keys, secret) };
    },
    { remember: (given) => ({ ...given, signingSecret: '' }) },
  );
  if (answer.signingSecret !== '') return answer;
  const revealed = await writes.transaction(tenantOf(request), context, (tx) =>
    tx.findOne(SigningSecretEntity, {
      revealedWith,
      subscriptionId: request.subscriptionId,
      revealedAt: { $gt: new Date(Date.now() - REPEATED_FOR_MS) },
    }),
  );
  if (!revealed) throw alreadyRevealed();
  return { ...answer, signingSecret: open(keys, revealed) };
}

function open(keys: KeyRing, row: SigningSecretRow): string {
  const { merchantId, subscriptionId } = row;
  return openSecret(keys, { merchantId, environment: row.environment, subscriptionId }, row);
}

const alreadyRevealed = () =>
  failedPrecondition('SIGNING_SECRET_ALREADY_REVEALED', 'the signing secret has been revealed before');
