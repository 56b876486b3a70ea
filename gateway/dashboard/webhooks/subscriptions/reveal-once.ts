import { randomUUID } from 'node:crypto';
import { unlessRefused } from '../../../../services/platform/rpc/connect-errors.ts';
import type { View } from '../../shell/view.ts';

/**
 * Reveals the signing secret; undefined if it has been revealed before. The idempotency key is new for every call: with
 * the form's key, a resubmission would get the secret again.
 */
export async function revealOnce(view: View, subscriptionId: string): Promise<string | undefined> {
  const request = { subscriptionId, idempotencyKey: randomUUID() };
  const revealing = view.clients.webhookSubscriptions.revealSigningSecret(request);
  return (await unlessRefused(revealing, { SIGNING_SECRET_ALREADY_REVEALED: undefined }))?.signingSecret;
}
