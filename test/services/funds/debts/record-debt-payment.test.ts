import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { afterAll, expect, it } from 'vitest';
import { MovementKind } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { startHarness } from '../../../support/harness.ts';
import { sqlOf } from '../../../support/sql.ts';
import { fundsCaller } from '../funds-caller.ts';
import { verifyFunds } from '../verification/verify-funds.ts';

const harness = await startHarness({ SERVICES: 'funds' });
afterAll(() => harness.close());

/** A merchant who owes 70 centavos since 2020-06-01, and 50 since the day after. */
async function debtor() {
  const caller = fundsCaller(harness.transports.inProcess);
  const { client, tenant, write, deduct } = caller;
  await deduct(70n, undefined, '2020-06-01');
  await deduct(50n, undefined, '2020-06-02');
  return {
    ...caller,
    pay: (amountMinor: bigint, paymentId: string = randomUUID()) =>
      client.recordDebtPayment({ ...write('2020-06-03'), paymentId, amountMinor }),
    open: async () => (await client.listDebts(tenant)).debts.map(({ openAmountMinor }) => openAmountMinor),
  };
}

it('pays the oldest debt first, and the available balance rises by it', async () => {
  const { client, tenant, pay, open, balance } = await debtor();
  const paymentId = randomUUID();
  expect((await pay(90n, paymentId)).openDebtsAmountMinor).toBe(30n);
  expect(await open()).toEqual([30n]);
  expect(await balance()).toMatchObject({ availableAmountMinor: -30n, openDebtsAmountMinor: 30n });
  const { movements } = await client.listMovements({
    ...tenant,
    fromDate: '2020-06-03',
    toDate: '2020-06-03',
  });
  expect(movements).toMatchObject([
    {
      kind: MovementKind.DEBT_PAYMENT,
      sourceId: paymentId,
      change: { availableAmountMinor: 90n },
      balance: { availableAmountMinor: -30n },
    },
  ]);
  await verifyFunds(harness, tenant);
});

it('refuses more than all open debts, and a second payment with the same id', async () => {
  const { pay, open } = await debtor();
  const paymentId = randomUUID();
  await expectRefusal(pay(121n, paymentId), Code.FailedPrecondition, 'OPEN_DEBTS_EXCEEDED', {
    openDebtsAmountMinor: '120',
  });
  await pay(120n, paymentId);
  expect(await open()).toEqual([]);
  await expectRefusal(pay(1n, paymentId.toUpperCase()), Code.AlreadyExists, 'DEBT_PAYMENT_ALREADY_RECORDED');
});

it('is refused, like a deduction, when the debts or the movements of a day would exceed 64 bits', async () => {
  const { client, tenant, pay, deduct } = await debtor();
  const largest = 9_007_199_254_740_991n;
  await sqlOf(
    harness,
    `insert into funds.deduction (merchant_id, environment, source_id, amount_minor, open_debt_minor, occurred_at)
     select $1, 'live', gen_random_uuid(), $2, $2, '2020-06-02T12:00:00Z' from generate_series(1, 1025)`,
    [tenant.merchantId, largest],
  );
  await expectRefusal(pay(1n), Code.OutOfRange, 'AMOUNT_OUT_OF_RANGE');
  expect((await client.listDebts({ ...tenant, pageSize: 1 })).debts).toMatchObject([
    { openAmountMinor: 70n },
  ]);
  await sqlOf(
    harness,
    `update funds.balance_day set available_minor = -9223372036854775000
      where merchant_id = $1 and environment = 'live' and date = '2020-06-02'`,
    [tenant.merchantId],
  );
  await expectRefusal(deduct(largest, undefined, '2020-06-02'), Code.OutOfRange, 'AMOUNT_OUT_OF_RANGE');
});
