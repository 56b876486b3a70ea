import { randomUUID } from 'node:crypto';
import type { DashboardClients } from '../../dashboard-clients.ts';
import { reasonOf } from '../../shell/failures.ts';
import type { View } from '../../shell/view.ts';

/**
 * The signing secret, the first time that anybody asks for it; undefined ever after. The key is a fresh one, never the
 * form's: a key that comes again would have the secret answered again.
 */
export async function revealOnce(
  { webhookSubscriptions }: Pick<DashboardClients, 'webhookSubscriptions'>,
  view: View,
  subscriptionId: string,
): Promise<string | undefined> {
  const request = { ...view.tenant, subscriptionId, idempotencyKey: randomUUID() };
  try {
    return (await webhookSubscriptions.revealSigningSecret(request, view.call)).signingSecret;
  } catch (error) {
    if (reasonOf(error) !== 'SIGNING_SECRET_ALREADY_REVEALED') throw error;
    return undefined;
  }
}
