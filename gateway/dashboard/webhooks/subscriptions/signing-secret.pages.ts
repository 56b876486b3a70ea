import { Type } from 'typebox';
import { WebhookSubscriptionService } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { errorInfoOf } from '../../../../services/platform/rpc/connect-errors.ts';
import { timestampOf } from '../../../../services/platform/timestamps.ts';
import type { FeatureDependencies } from '../../shell/feature.ts';
import { textsFor, type View } from '../../shell/view.ts';
import { revealOnce } from './reveal-once.ts';
import { revealedPage, revealPage, rotatedPage, rotatePage } from './signing-secret.page.ts';
import { signingSecretTexts } from './signing-secret.texts.ts';
import { readSecrets, readSubscription } from './subscription-reads.ts';
import { subscriptionTexts } from './subscriptions.texts.ts';

const SPEC = { section: 'webhooks', refusals: subscriptionTexts } as const;
const { revealSigningSecret, rotateSigningSecret } = WebhookSubscriptionService.method;
const REVEAL = { ...SPEC, path: '/webhooks/:subscriptionId/reveal', rpc: revealSigningSecret };
const ROTATE = { ...SPEC, path: '/webhooks/:subscriptionId/rotate', rpc: rotateSigningSecret };

const OVERLAPS = Object.keys(signingSecretTexts.en.overlaps);
const ROTATION = Type.Object({ overlap_seconds: Type.Enum(OVERLAPS) });

/** Reveals and rotates signing secrets. Only the response to a POST contains a secret; GET shows the status. */
export function signingSecretPages({ pages, clients }: FeatureDependencies): void {
  const read = async (view: View, subscriptionId: string) =>
    Promise.all([
      readSubscription(clients, view, subscriptionId),
      readSecrets(clients, view, subscriptionId),
    ]);

  pages.page(REVEAL, async (view, { params }) =>
    revealPage(view, ...(await read(view, params.subscriptionId!))),
  );

  pages.action(REVEAL, async (view, { params }) => {
    const subscription = await readSubscription(clients, view, params.subscriptionId!);
    return revealedPage(view, subscription, await revealOnce(clients, view, subscription.id));
  });

  pages.page(ROTATE, async (view, { params }) =>
    rotatePage(view, ...(await read(view, params.subscriptionId!))),
  );

  pages.action({ ...ROTATE, form: ROTATION }, async (view, { params, form, key }) => {
    const subscriptionId = params.subscriptionId!;
    const request = {
      ...view.tenant,
      subscriptionId,
      idempotencyKey: key,
      overlapSeconds: Number(form.overlap_seconds),
    };
    try {
      const rotated = await clients.webhookSubscriptions.rotateSigningSecret(request, view.call);
      const secret = await revealOnce(clients, view, subscriptionId);
      return rotatedPage(view, rotated.subscription!, secret, rotated.overlapEndsAt);
    } catch (error) {
      const fault = rotationFault(view, error);
      if (fault === undefined) throw error;
      return { ...rotatePage(view, ...(await read(view, subscriptionId)), fault), status: 409 };
    }
  });
}

/** The fault of a refused rotation that the person can correct; undefined for other errors. */
function rotationFault(view: View, error: unknown): string | undefined {
  const t = textsFor(view, signingSecretTexts);
  const { reason, metadata } = errorInfoOf(error) ?? {};
  if (reason === 'IDEMPOTENCY_KEY_REUSED') return t.reused;
  if (reason !== 'SIGNING_SECRET_LIMIT_REACHED' || !metadata?.free_at) return undefined;
  return t.limitReached(view.format.dateTime(timestampOf(new Date(metadata.free_at))));
}
