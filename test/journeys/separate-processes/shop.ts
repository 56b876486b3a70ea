import { createClient } from '@connectrpc/connect';
import { ApiKeyService } from '../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { WebhookSubscriptionState } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { ALL_SCOPES } from '../../gateway/gateway-harness.ts';
import { seedMerchant } from '../../gateway/seed-merchant.ts';
import { newWrite } from '../../support/harness.ts';
import { type Receiver, startReceiver } from '../../support/tls-receiver.ts';
import { SandboxMerchant } from '../sandbox-merchant.ts';
import type { SeparateSystem } from './separate-system.ts';

/** How long the workflows of a system that has just started may take. */
const ACTIVE_MS = 150_000;

/** A receiver that fails the first attempt of each event, so that a workflow must request the second. */
export interface RetriedReceiver {
  readonly receiver: Receiver;
  /** When each event was answered with success, by id. */
  readonly deliveredAt: ReadonlyMap<string, number>;
}

export async function startRetriedReceiver(): Promise<RetriedReceiver> {
  const attempted = new Set<string>();
  const deliveredAt = new Map<string, number>();
  const receiver = await startReceiver((request, response) => {
    const id = String(request.headers['webhook-id']);
    const { type } = JSON.parse(String(receiver.requests.at(-1)!.body));
    const fails = type !== 'webhook.ping.v1' && !attempted.has(id);
    attempted.add(id);
    if (!fails) deliveredAt.set(id, deliveredAt.get(id) ?? Date.now());
    response.writeHead(fails ? 503 : 204).end();
  });
  return { receiver, deliveredAt };
}

/** A merchant of the sandbox with an active subscription, a refund case and an API key for everything. */
export async function openShop(
  { transport }: SeparateSystem,
  receiver: Receiver,
): Promise<{ readonly merchant: SandboxMerchant; readonly key: string }> {
  const merchant = await SandboxMerchant.subscribe(transport, receiver);
  await merchant.becomes(WebhookSubscriptionState.ACTIVE, ACTIVE_MS);
  const { tenant } = merchant;
  const call = newWrite(tenant);
  const scopes = [...ALL_SCOPES];
  const { key } = await createClient(ApiKeyService, transport).issueApiKey({ ...call, name: 'Shop', scopes });
  await seedMerchant(transport, tenant.merchantId, tenant.environment).refundCase();
  return { merchant, key };
}
