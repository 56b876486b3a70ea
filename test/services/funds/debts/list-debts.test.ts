import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { newTenant } from '../../../support/harness.ts';
import { describeList, describePlans, sharedListHarness } from '../../../support/list-suite.ts';
import { planOf } from '../../../support/list-walk.ts';
import { sqlOf } from '../../../support/sql.ts';
import { fundsCaller } from '../funds-caller.ts';
import { debtList } from './debt-list.ts';

const { harness, statements } = sharedListHarness('funds');

it('reads only the debts of the merchant where most are of another', async () => {
  await sqlOf(
    harness(),
    `insert into funds.deduction (merchant_id, environment, source_id, amount_minor, open_debt_minor, occurred_at)
     select $1, 'live', gen_random_uuid(), 100, 100, now() - n * interval '1 min' from generate_series(5_000, 1, -1) n`,
    [randomUUID()],
  );
  await sqlOf(harness(), 'analyze funds.deduction');
  statements.length = 0;
  await fundsCaller(harness().transports.inProcess).client.listDebts(newTenant());
  expect(await planOf(harness(), statements.at(-1)!)).toContain('using deduction_open_debt ');
});

describeList('ListDebts', () => debtList(harness()));

describePlans(() => debtList(harness()), statements, [['', 'deduction_open_debt']]);

it('returns the source of a deduction and its open amount', async () => {
  const { client, tenant, write, sell } = fundsCaller(harness().transports.inProcess);
  const { saleId } = await sell({ on: '2020-06-01', gross: 30n });
  const deduct = (on: string, amountMinor: bigint, sale: { saleId?: string }) => {
    const sourceId = randomUUID();
    return client.applyDeduction({ ...write(on), ...sale, sourceId, amountMinor }).then(() => sourceId);
  };
  const second = await deduct('2020-06-03', 50n, { saleId });
  const first = await deduct('2020-06-02', 70n, {});
  await sell({ on: '2020-06-04', gross: 25n });
  const { debts } = await client.listDebts(tenant);
  expect(debts).toMatchObject([
    { sourceId: first, amountMinor: 70n, openAmountMinor: 45n, occurredAt: write('2020-06-02').occurredAt },
    { sourceId: second, amountMinor: 50n, openAmountMinor: 20n, saleId },
  ]);
  expect(debts[0]).not.toHaveProperty('saleId');
});
