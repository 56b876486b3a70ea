import { randomUUID } from 'node:crypto';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { DebtAction } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { DAY_MS } from '../../../../services/platform/durations.ts';
import { sharedListHarness } from '../../../support/list-suite.ts';
import { describeQueue } from '../../../support/queue-suite.ts';
import { scrape, UNTIL_SCRAPED } from '../../../support/scrape.ts';
import { fundsCaller } from '../funds-caller.ts';
import { debtQueue } from './debt-queue.ts';

const DUE_AFTER_MS = 30 * DAY_MS;

const { harness, statements } = sharedListHarness('funds');

describeQueue(
  'ListDebtQueue',
  () => debtQueue(harness()),
  statements,
  [['', 'deduction_debt_queue']],
  [['', 'deduction_open_debt']],
);

/** A merchant who owes 70 centavos since 2020, and 50 since now. */
async function debtor() {
  const caller = fundsCaller(harness().transports.inProcess);
  const { client, tenant, write, deduct } = caller;
  await deduct(70n, undefined, '2020-06-01');
  await deduct(50n);
  return {
    ...caller,
    pay: (amountMinor: bigint) =>
      client.recordDebtPayment({ ...write(), paymentId: randomUUID(), amountMinor }),
    queue: async () => (await client.listDebtQueue(tenant)).items,
  };
}

it('says that a debt awaits sales, and from its due time on that its payment is to be collected', async () => {
  const { queue, tenant } = await debtor();
  const [old, recent] = await queue();
  expect(old).toMatchObject({ account: tenant, nextAction: DebtAction.COLLECT_PAYMENT });
  expect(recent).toMatchObject({ account: tenant, nextAction: DebtAction.AWAIT_SALES });
  for (const { debt, waitingSince, dueAt } of [old!, recent!]) {
    expect(waitingSince).toEqual(debt!.occurredAt);
    expect(timestampMs(dueAt!)).toBe(timestampMs(waitingSince!) + DUE_AFTER_MS);
  }
});

it('counts the due time of a raised deduction from when its debt arose, and says when an open debt grew', async () => {
  const { client, tenant, write } = fundsCaller(harness().transports.inProcess);
  const sourceId = randomUUID();
  const raiseTo = (amountMinor: bigint, on?: string) =>
    client.applyDeduction({ ...write(on), sourceId, amountMinor, raise: true });
  const queued = async () => (await client.listDebtQueue(tenant)).items;
  const recordPayment = (amountMinor: bigint) =>
    client.recordDebtPayment({ ...write(), paymentId: randomUUID(), amountMinor });
  await raiseTo(70n, '2020-06-01');
  const raised = write('2020-06-03');
  await client.applyDeduction({ ...raised, sourceId, amountMinor: 90n, raise: true });
  await raiseTo(95n, '2020-06-02');
  expect(await queued()).toMatchObject([
    { debt: { openAmountMinor: 95n, raisedAt: raised.occurredAt }, nextAction: DebtAction.COLLECT_PAYMENT },
  ]);
  await recordPayment(95n);
  await raiseTo(105n);
  expect(await queued()).toMatchObject([
    { debt: { openAmountMinor: 10n, raisedAt: undefined }, nextAction: DebtAction.AWAIT_SALES },
  ]);
});

it('leaves out the debts of a merchant whose released funds cover them', async () => {
  const { queue, sell, balance } = await debtor();
  await sell({ gross: 119n, instant: true });
  expect(await queue()).toHaveLength(2);
  await sell({ gross: 1n, instant: true });
  expect(await queue()).toEqual([]);
  expect((await balance()).availableAmountMinor).toBe(0n);
});

it('keeps what a payment leaves open', async () => {
  const { queue, pay } = await debtor();
  await pay(90n);
  expect(await queue()).toMatchObject([{ debt: { amountMinor: 50n, openAmountMinor: 30n } }]);
  await pay(30n);
  expect(await queue()).toEqual([]);
});

it('counts overdue debts in a metric until they are paid or covered', async () => {
  const overdue = async () => (await scrape())('payments_debts_overdue{environment="live"}')!;
  const before = await overdue();
  const [paid, covered] = [await debtor(), await debtor()];
  await expect.poll(overdue, UNTIL_SCRAPED).toBe(before + 2);
  await paid.pay(70n);
  await covered.sell({ gross: 120n, instant: true });
  await expect.poll(overdue, UNTIL_SCRAPED).toBe(before);
});
