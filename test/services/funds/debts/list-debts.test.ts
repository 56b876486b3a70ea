import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { testList } from '../../../support/list-suite.ts';
import { fundsCaller } from '../funds-caller.ts';
import { debtList } from './debt-list.ts';

const harness = testList('ListDebts', 'funds', debtList, [['', 'deduction_open_debt']]);

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
