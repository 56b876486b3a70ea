import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Code } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import { SaleMethod } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { startHarness } from '../../../support/harness.ts';
import { openSession, sqlOf } from '../../../support/sql.ts';
import { fundsCaller } from '../../funds/funds-caller.ts';

const harness = await startHarness({ SERVICES: 'funds' });
afterAll(() => harness.close());

/** How long the caller waits for a write. */
const WAIT_MS = 200;
const ENDINGS = {
  'the deadline has passed': () => ({ timeoutMs: WAIT_MS }),
  'the caller has disconnected': () => ({ signal: AbortSignal.timeout(WAIT_MS) }),
};

describe.each(['inProcess', 'grpc', 'connect'] as const)('a write over %s', (way) => {
  it.each(Object.entries(ENDINGS))(
    'is rolled back once %s, and succeeds when repeated',
    async (ending, options) => {
      const { client, tenant, write, sell } = fundsCaller(harness.transports[way]);
      await sell({ gross: 1_000n });
      await using lock = await openSession(harness.databaseUrl);
      await lock.query('begin');
      await lock.query('select from funds.account where merchant_id = $1 for update', [tenant.merchantId]);
      const deduction = { ...write(), sourceId: randomUUID(), amountMinor: 100n };
      const late = client.applyDeduction(deduction, options());
      const code = ending === 'the deadline has passed' ? Code.DeadlineExceeded : Code.Canceled;
      await expect(late).rejects.toMatchObject({ code });
      await delay(50);
      await lock.query('commit');
      // Its turn at the account comes before this one's.
      await sell({ gross: 1n });
      const kept = 'select from funds.deduction where source_id = $1';
      expect(await sqlOf(harness, kept, [deduction.sourceId])).toEqual([]);
      expect(await client.applyDeduction(deduction)).toMatchObject({ deductedAmountMinor: 100n });
    },
  );
});

it('sales that are recorded together are rolled back if the caller of one of them stops waiting', async () => {
  const { client, write, sell } = fundsCaller(harness.transports.inProcess);
  await using lock = await openSession(harness.databaseUrl);
  // Sales are stored before their entries of the audit trail.
  await lock.query('begin; lock table platform.audit_entry in share mode');
  const sale = {
    ...write(),
    saleId: randomUUID(),
    method: SaleMethod.CARD,
    grossAmountMinor: 100n,
    installments: 1,
  };
  const late = client.recordSale(sale, { signal: AbortSignal.timeout(WAIT_MS) });
  const other = sell({ gross: 1n });
  await expect(late).rejects.toMatchObject({ code: Code.Canceled });
  await lock.query('commit');
  await other;
  expect(await sqlOf(harness, 'select from funds.sale where id = $1', [sale.saleId])).toEqual([]);
  expect(await client.recordSale(sale)).toMatchObject({ saleId: sale.saleId });
});
