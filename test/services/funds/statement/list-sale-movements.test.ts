import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { testList } from '../../../support/list-suite.ts';
import { fundsCaller } from '../funds-caller.ts';
import { saleMovementList } from './movement-list.ts';

const harness = testList(
  'ListSaleMovements',
  'funds',
  saleMovementList,
  [['', 'movement_sale']],
  'funds.movement',
);

it('lists the movements of the statement that name the sale, without balances', async () => {
  const { client, tenant, sell, block, deduct } = fundsCaller(harness().transports.inProcess);
  const { saleId } = await sell({ on: '2020-06-01', gross: 3_000n });
  const other = await sell({ on: '2020-06-01', gross: 500n });
  await block(saleId, randomUUID(), undefined, '2020-06-02', 200n);
  await block(other.saleId, randomUUID(), undefined, '2020-06-02', 100n);
  await deduct(10n, saleId, '2020-06-03');
  await deduct(10n, undefined, '2020-06-03');
  const statement = (await client.listMovements(tenant)).movements;
  const expected = statement.filter((movement) => movement.saleId === saleId);
  expect(expected).toHaveLength(3);
  const { movements } = await client.listSaleMovements({ ...tenant, saleId: saleId.toUpperCase() });
  expect(movements).toEqual(expected.map(({ balance: _, ...movement }) => movement));
});
