import { randomUUID } from 'node:crypto';
import { reasonOf } from '../../shell/failures.ts';
import type { View } from '../../shell/view.ts';

/**
 * Reveals the signing secret; undefined if it has been revealed before. The idempotency key is new for every call: with
 * the form's key, a resubmission would get the secret again.
 */
export async function revealOnce(view: View, subscriptionId: string): Promise<string | undefined> {
  const request = { subscriptionId, idempotencyKey: randomUUID() };
  try {
    return (await view.clients.webhookSubscriptions.revealSigningSecret(request)).signingSecret;
  } catch (error) {
    if (reasonOf(error) !== 'SIGNING_SECRET_ALREADY_REVEALED') throw error;
    return undefined;
  }
}
