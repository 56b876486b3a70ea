import { timestampDate } from '@bufbuild/protobuf/wkt';
import { afterAll, describe, expect, it } from 'vitest';
import { newTenant, newWrite, startHarness } from '../../../support/harness.ts';
import { webhooksFixture } from '../webhooks-fixture.ts';

const harness = await startHarness({ SERVICES: 'webhooks' });
const fixture = webhooksFixture(harness, harness.transports.grpc);
afterAll(() => harness.close());

async function newSubscription() {
  const tenant = newTenant();
  const { id: subscriptionId } = await fixture.subscribe(tenant);
  const about = () => ({ ...newWrite(tenant), subscriptionId });
  return {
    subscriptionId,
    about,
    reveal: () => fixture.subscriptions.revealSigningSecret(about()),
    rotate: (overlapSeconds: number) =>
      fixture.subscriptions.rotateSigningSecret({ ...about(), overlapSeconds }),
    /** [seen, until when it signs] of each, in order. */
    status: async () => {
      const { secrets } = await fixture.subscriptions.getSigningSecretStatus({ ...tenant, subscriptionId });
      return secrets.map(({ revealedAt, signsUntil }) => [
        revealedAt !== undefined,
        signsUntil && timestampDate(signsUntil),
      ]);
    },
  };
}

describe('GetSigningSecretStatus', () => {
  it('says whether the secret has been revealed', async () => {
    const { status, reveal } = await newSubscription();
    expect(await status()).toEqual([[false, undefined]]);
    await reveal();
    expect(await status()).toEqual([[true, undefined]]);
  });

  it('lists the current one first, then those that still sign, until they end', async () => {
    const { status, reveal, rotate, subscriptionId } = await newSubscription();
    await reveal();
    const { overlapEndsAt } = await rotate(3_600);
    const end = timestampDate(overlapEndsAt!);
    expect(await status()).toEqual([
      [false, undefined],
      [true, end],
    ]);
    await fixture.sql(
      'update webhooks.signing_secret set expires_at = now() where subscription_id = $1 and expires_at is not null',
      [subscriptionId],
    );
    expect(await status()).toEqual([[false, undefined]]);
  });
});
