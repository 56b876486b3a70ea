import { expect, it } from 'vitest';
import { ProviderQueueAction as Action } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { STUCK_AFTER_ATTEMPTS } from '../../../services/advances/advance-payout.ts';
import { newTenant } from '../../support/harness.ts';
import { sharedListHarness } from '../../support/list-suite.ts';
import { describeQueue } from '../../support/queue-suite.ts';
import { payoutsOf, providerQueue } from './provider-queue.ts';

const { harness, statements } = sharedListHarness('funds,advances');

describeQueue(
  'ListProviderQueue',
  () => providerQueue(harness()),
  statements,
  [
    ['', 'request_provider_queue'],
    ['stuckOnly', 'request_payout_to_resolve'],
  ],
  [['', 'request_provider_queue_merchant']],
);

it('has a payout from its release on, asks to contact the provider when it is stuck, until it is accepted', async () => {
  const tenant = newTenant();
  const { client, release, refuse, accept } = payoutsOf(harness(), tenant);
  const item = async (stuckOnly = false) =>
    (await client.listProviderQueue({ ...tenant, stuckOnly })).items[0];
  const id = await release();
  const released = await item();
  expect(released).toMatchObject({ advanceRequest: { id }, nextAction: Action.AWAIT_PROVIDER });
  expect(released!.advanceRequest!.payout).toBeUndefined();
  const waitingSince = released!.advanceRequest!.releasedAt;
  expect(released!.waitingSince).toEqual(waitingSince);
  await refuse(id);
  expect(await item()).toMatchObject({ nextAction: Action.AWAIT_PROVIDER, waitingSince });
  expect(await item(true)).toBeUndefined();
  for (let n = 1; n < STUCK_AFTER_ATTEMPTS; n += 1) await refuse(id);
  expect(await item(true)).toMatchObject({ advanceRequest: { id }, nextAction: Action.CONTACT_PROVIDER });
  await accept(id);
  expect(await item()).toBeUndefined();
});

it('asks to pay again what the bank has returned, until another payout is accepted', async () => {
  const tenant = newTenant();
  const { client, release, accept, giveBack } = payoutsOf(harness(), tenant);
  const items = async (stuckOnly: boolean) =>
    (await client.listProviderQueue({ ...tenant, stuckOnly })).items;
  const id = await release();
  await accept(id);
  await giveBack(id);
  for (const stuckOnly of [false, true]) {
    expect(await items(stuckOnly)).toMatchObject([
      {
        advanceRequest: { id, payout: { lastReason: 'account closed' } },
        nextAction: Action.PAY_AGAIN,
      },
    ]);
  }
  await accept(id, 'po_2');
  expect([await items(false), await items(true)]).toEqual([[], []]);
});
