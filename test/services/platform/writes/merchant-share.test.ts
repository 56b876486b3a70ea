import { randomUUID } from 'node:crypto';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { afterAll, expect, it } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { startHarness } from '../../../support/harness.ts';
import { lockWaits, openSession } from '../../../support/sql.ts';
import { refundsOf } from '../../refunds/refund-case-fixture.ts';

const POOL_SIZE = 4;
const CALLS = 12;

const harness = await startHarness({ DATABASE_POOL_SIZE: String(POOL_SIZE) });
afterAll(() => harness.close());

it('the writes of one merchant that wait for a locked row leave connections to others, and to those in its sandbox', async () => {
  const { open, tenant } = refundsOf(harness);
  const paymentIntentId = randomUUID();
  const paidAt = timestampNow();
  await open({ paymentIntentId, paidAt });
  await using session = await openSession(harness.databaseUrl);
  await session.query('begin');
  await session.query('select from refunds.payment where merchant_id = $1 for update', [tenant.merchantId]);
  const stuck = Promise.allSettled(
    Array.from({ length: CALLS }, () => open({ paymentIntentId, paidAt, amountMinor: 1n })),
  );
  await expect.poll(() => lockWaits(harness), { interval: 20 }).not.toEqual([]);
  const others = Array.from({ length: 3 * POOL_SIZE }, () => refundsOf(harness).open());
  expect(await Promise.all(others)).toHaveLength(3 * POOL_SIZE);
  await refundsOf(harness, 'inProcess', { ...tenant, environment: Environment.TEST }).open();
  expect(await lockWaits(harness)).toHaveLength(POOL_SIZE / 2);
  await session.end();
  expect((await stuck).map(({ status }) => status)).toEqual(Array(CALLS).fill('fulfilled'));
});
