import fc from 'fast-check';
import { expect, test } from 'vitest';
import { amountsOf, sumOf } from '../../../../gateway/dashboard/funds/amounts.ts';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { fundsCaller } from '../../../services/funds/funds-caller.ts';
import { newTenant } from '../../../support/harness.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { sharedDashboard } from '../dashboard-fixture.ts';
import { cellSums, centavosOf } from './calendar-page.ts';

const fixture = await sharedDashboard();

const RUNS = 4;

const sale = fc.record({
  day: fc.integer({ min: 1, max: 28 }),
  gross: fc.bigInt(1n, 2_000_000_000_000_000n),
  installments: fc.integer({ min: 1, max: 12 }),
  fate: fc.constantFrom('kept', 'blocked', 'deducted', 'advanced'),
});

test('the cells of every month add up to the releases of the month, and its days to the same rows', async () => {
  const property = fc.asyncProperty(fc.array(sale, { minLength: 1, maxLength: 4 }), async (sales) => {
    const funds = fundsCaller(fixture.transport, newTenant());
    const { tenant } = funds;
    for (const { day, gross, installments, fate } of sales) {
      const on = `2020-06-${String(day).padStart(2, '0')}`;
      const { saleId } = await funds.sell({ on, gross, fees: gross / 50n, installments });
      if (fate === 'blocked') await funds.block(saleId, undefined, undefined, '2020-06-29');
      if (fate === 'deducted') await funds.deduct(gross / 3n + 1n, saleId, '2020-06-29');
      if (fate === 'advanced') await advanceNearest(funds);
    }
    const visitor = await fixture.signIn({ [tenant.merchantId]: Role.VIEWER });
    const { releases } = await funds.client.listFundsReleases({ ...tenant, pageSize: 100 });
    const byMonth = Map.groupBy(releases, ({ date }) => date.slice(0, 7));
    const home = `/live/${tenant.merchantId}/funds`;
    for (const [month, rows] of byMonth) {
      const { document } = await visitor.get(`${home}?month=${month}`);
      expect(cellSums(document)).toEqual(sumOf(rows.map(amountsOf)));
    }
    const [{ date } = { date: '' }] = releases;
    const { document } = await visitor.get(`${home}/days/${date}`);
    const rows = releases.filter((row) => row.date === date);
    const shown = Object.values(sumOf(rows.map(amountsOf))).reduce((sum, amount) => sum + amount, 0n);
    expect(centavosOf(document.querySelectorAll('.card data'))).toBe(shown);
  });
  await fc.assert(property, { numRuns: propertyRuns(RUNS) });
}, 300_000);

async function advanceNearest(funds: ReturnType<typeof fundsCaller>): Promise<void> {
  const [nearest] = (await funds.advanceable('2020-06-29')).installments;
  if (!nearest) return;
  const advanceRequestId = crypto.randomUUID();
  await funds.reserve([nearest], advanceRequestId, '2020-06-29');
  await funds.settle(advanceRequestId, '2020-06-29');
}
