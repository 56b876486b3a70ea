import { randomUUID } from 'node:crypto';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Code, createClient } from '@connectrpc/connect';
import { Webhook } from 'standardwebhooks';
import { afterAll, describe, expect, it } from 'vitest';
import { verifyWebhook } from '../../../../gateway/docs/verify-webhook/verify-webhook.ts';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  type RotateSigningSecretResponse,
  RotateSigningSecretResponseSchema,
  WebhookSubscriptionService,
  WebhookSubscriptionState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { HOUR_MS } from '../../../../services/platform/durations.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant, newWrite, startHarness } from '../../../support/harness.ts';
import { createLoopbackGuard } from '../../../support/loopback-guard.ts';
import { type ReceivedRequest, startReceiver } from '../../../support/tls-receiver.ts';
import { deliverWaiting } from '../../platform/egress/deliver-waiting.ts';
import { webhooksFixture } from '../webhooks-fixture.ts';

const receiver = await startReceiver();
const harness = await startHarness({
  SERVICES: 'webhooks',
  WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  WEBHOOK_ROTATION_OVERLAP: '1h',
});
const fixture = webhooksFixture(harness, harness.transports.grpc);
afterAll(async () => {
  await harness.close();
  await receiver[Symbol.asyncDispose]();
});

/** A new subscription, the calls about its secrets, and the deliveries that its receiver got. */
async function newSubscription() {
  const tenant = newTenant(Environment.TEST);
  const path = `/${randomUUID()}`;
  const url = `https://127.0.0.1:${receiver.port}${path}`;
  const { id: subscriptionId } = await fixture.subscribe(tenant, undefined, url);
  const received = () => receiver.requests.filter((request) => request.path === path);
  const about = () => ({ ...newWrite(tenant), subscriptionId });
  const reveal = async () => (await fixture.subscriptions.revealSigningSecret(about())).signingSecret;
  const rotate = (more: { overlapSeconds?: number; idempotencyKey?: string } = {}) =>
    fixture.subscriptions.rotateSigningSecret({ ...about(), ...more });
  const expire = () =>
    fixture.sql(
      `update webhooks.signing_secret set expires_at = now() where subscription_id = $1 and expires_at is not null`,
      [subscriptionId],
    );
  const stored = () =>
    fixture.sql<{ expires_at: Date | null }>(
      'select expires_at from webhooks.signing_secret where subscription_id = $1 order by id',
      [subscriptionId],
    );
  return { tenant, subscriptionId, received, about, reveal, rotate, expire, stored };
}

const deliver = async () => {
  await using guard = createLoopbackGuard();
  return await deliverWaiting(harness, { live: guard, test: guard });
};

/** Whether a receiver with this secret accepts the delivery, with the public library and with our sample. */
function accepts(secret: string, { headers, body }: ReceivedRequest): boolean {
  const given = headers as Record<string, string>;
  const outcomes = [
    () => new Webhook(secret).verify(body, given),
    () => verifyWebhook(body, given, secret),
  ].map((verify) => {
    try {
      verify();
      return true;
    } catch {
      return false;
    }
  });
  expect(outcomes[0]).toBe(outcomes[1]);
  return outcomes[0]!;
}

const endOf = ({ overlapEndsAt }: RotateSigningSecretResponse) => overlapEndsAt && timestampMs(overlapEndsAt);

describe('rotating a signing secret', () => {
  it('makes both sign during the overlap, and only the new one after it', async () => {
    const { tenant, received, reveal, rotate, expire } = await newSubscription();
    const former = await reveal();
    await rotate();
    const current = await reveal();
    expect(current).not.toBe(former);
    await deliver();
    await fixture.publish(tenant);
    await deliver();
    expect(received()).toHaveLength(2);
    for (const request of received()) {
      expect(request.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
      expect([accepts(current, request), accepts(former, request)]).toEqual([true, true]);
    }
    await expire();
    await fixture.publish(tenant);
    await deliver();
    const last = received()[2]!;
    expect(last.headers['webhook-signature']).toMatch(/^v1,\S+$/);
    expect([accepts(current, last), accepts(former, last)]).toEqual([true, false]);
  });

  it('returns no secret but the end of the overlap, and lets the new one be revealed once', async () => {
    const { tenant, subscriptionId, reveal, rotate } = await newSubscription();
    const former = await reveal();
    const before = Date.now();
    const answer = await rotate();
    expect(answer.subscription).toMatchObject({
      id: subscriptionId,
      state: WebhookSubscriptionState.PENDING,
    });
    expect(endOf(answer)).toBeGreaterThanOrEqual(before + HOUR_MS);
    expect(endOf(answer)).toBeLessThanOrEqual(Date.now() + HOUR_MS);
    const current = await reveal();
    await expectRefusal(reveal(), Code.FailedPrecondition, 'SIGNING_SECRET_ALREADY_REVEALED');
    const fields = RotateSigningSecretResponseSchema.fields.map(({ name }) => name);
    expect(fields).toEqual(['subscription', 'overlap_ends_at']);
    const records = await fixture.sql<{ response: Buffer }>(
      'select response from platform.idempotency_record where merchant_id = $1',
      [tenant.merchantId],
    );
    for (const { response } of records) {
      expect(response.includes(current) || response.includes(former)).toBe(false);
    }
  });

  it('ends a secret that was never revealed, and keeps the one that receivers still use', async () => {
    const { reveal, rotate, stored } = await newSubscription();
    expect(endOf(await rotate())).toBeUndefined();
    expect(await stored()).toEqual([{ expires_at: null }]);
    await reveal();
    const end = endOf(await rotate());
    expect(endOf(await rotate())).toBe(end);
    expect(await stored()).toEqual([{ expires_at: new Date(end!) }, { expires_at: null }]);
  });

  it('lets at most three sign; without an overlap, only the new one signs from then on', async () => {
    const { tenant, received, reveal, rotate } = await newSubscription();
    const secrets = [await reveal()];
    const ends: (number | undefined)[] = [];
    for (let times = 0; times < 2; times += 1) {
      ends.push(endOf(await rotate()));
      secrets.push(await reveal());
    }
    await expectRefusal(rotate(), Code.FailedPrecondition, 'SIGNING_SECRET_LIMIT_REACHED', {
      free_at: new Date(ends[0]!).toISOString(),
    });
    await deliver();
    expect(secrets.map((secret) => accepts(secret, received()[0]!))).toEqual([true, true, true]);
    expect(endOf(await rotate({ overlapSeconds: 0 }))).toBeUndefined();
    secrets.push(await reveal());
    await fixture.publish(tenant);
    await deliver();
    expect(secrets.map((secret) => accepts(secret, received()[1]!))).toEqual([
      ...[false, false, false],
      true,
    ]);
  });

  it('is possible again once an earlier secret has ended', async () => {
    const { reveal, rotate, expire, stored } = await newSubscription();
    await reveal();
    for (let times = 0; times < 2; times += 1) {
      await rotate();
      await reveal();
    }
    await expire();
    await rotate();
    expect(await stored()).toHaveLength(2);
  });

  it('sends nothing by itself, and prepares a disabled subscription for its reactivation', async () => {
    const { received, about, reveal, rotate } = await newSubscription();
    await reveal();
    await fixture.subscriptions.disableWebhookSubscription(about());
    const { subscription } = await rotate({ overlapSeconds: 0 });
    expect(subscription?.state).toBe(WebhookSubscriptionState.DISABLED);
    const current = await reveal();
    await deliver();
    expect(received()).toEqual([]);
    await fixture.subscriptions.reactivateWebhookSubscription(about());
    await deliver();
    expect(received().map((request) => accepts(current, request))).toEqual([true]);
  });

  it('leaves one current secret after concurrent rotations and reveals', async () => {
    const { reveal, rotate, stored } = await newSubscription();
    const calls = Array.from({ length: 12 }, (_, index) =>
      index % 3 === 0 ? reveal() : rotate({ overlapSeconds: index }),
    );
    const outcomes = await Promise.allSettled(calls);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    for (const outcome of refused) {
      expect(String((outcome as PromiseRejectedResult).reason)).toMatch(/failed_precondition/);
    }
    const secrets = await stored();
    expect(secrets.filter(({ expires_at }) => expires_at === null)).toHaveLength(1);
    expect(secrets.length).toBeLessThanOrEqual(3);
  });

  it('requires the grant subscriptions, and finds only subscriptions of the tenant', async () => {
    const { about } = await newSubscription();
    const as = (...grants: string[]) =>
      createClient(
        WebhookSubscriptionService,
        harness.services.transportFor({ name: 'dashboard', grants: new Set(grants) }),
      );
    await expectRefusal(
      as('webhooks:read', 'reveal').rotateSigningSecret(about()),
      Code.PermissionDenied,
      'GRANT_MISSING',
      { grant: 'subscriptions' },
    );
    const writer = as('subscriptions');
    await writer.rotateSigningSecret(about());
    // The narrow grant is part of the area's.
    await as('webhooks:write').rotateSigningSecret(about());
    await expectRefusal(writer.revealSigningSecret(about()), Code.PermissionDenied, 'GRANT_MISSING');
    for (const other of [newTenant(Environment.TEST), { environment: Environment.LIVE }]) {
      await expectRefusal(
        writer.rotateSigningSecret({ ...about(), ...other }),
        Code.NotFound,
        'WEBHOOK_SUBSCRIPTION_NOT_FOUND',
      );
    }
  });
});
