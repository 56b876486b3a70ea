import { afterAll, beforeAll, expect, it } from 'vitest';
import { findUncoveredDebts } from '../../../workflows/accounts/debt-notice.ts';
import { fundsCaller } from '../../services/funds/funds-caller.ts';
import { startHarness, type TestHarness } from '../../support/harness.ts';

let harness: TestHarness;
beforeAll(async () => {
  harness = await startHarness({ SERVICES: 'funds' });
});
afterAll(() => harness.close());

it('notices each new debt, however many older ones are open, so that it is mailed', async () => {
  const { client, tenant, deduct } = fundsCaller(harness.transports.inProcess);
  const happenedAt = async () => (await findUncoveredDebts(client, tenant))?.happenedAt;
  expect(await happenedAt()).toBeUndefined();
  for (let debts = 0; debts < 100; debts += 1) await deduct(1n, undefined, '2020-06-01');
  const before = await happenedAt();
  await deduct(1n, undefined, '2020-06-02');
  expect(await happenedAt()).not.toEqual(before);
});

it('notices a new hold while a debt is open, so that it is mailed', async () => {
  const { client, tenant, deduct, sell, block } = fundsCaller(harness.transports.inProcess);
  const happenedAt = async () => (await findUncoveredDebts(client, tenant))?.happenedAt;
  await deduct(100n, undefined, '2020-06-01');
  const before = await happenedAt();
  const { saleId } = await sell({ gross: 100n, instant: true });
  expect(await happenedAt()).toBeUndefined();
  await block(saleId);
  expect(await happenedAt()).not.toEqual(before);
});
