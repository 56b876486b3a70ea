import { randomUUID } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import { BlockOutcome, BlockReason } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { daysAgo } from '../../../support/ago.ts';
import { startHarness } from '../../../support/harness.ts';
import { scrape } from '../../../support/scrape.ts';
import { fundsCaller } from '../funds-caller.ts';

const { KYC_PENDING, COMPLIANCE_HOLD, HOLD_OR_DISPUTE } = BlockReason;

const harness = await startHarness();
afterAll(() => harness.close());

it('the age of the oldest hold is a metric by reason until it is lifted, and the scan says which one it is', async () => {
  const { client, tenant, write } = fundsCaller(harness.transports.inProcess);
  const block = async (reason: BlockReason, days: number) => {
    const hold = { saleId: randomUUID(), sourceId: randomUUID(), reason };
    const openedAt = daysAgo(days);
    await client.blockFunds({ ...write(), ...hold, occurredAt: openedAt });
    return { ...hold, openedAt };
  };
  const ageInDays = async (reason: string) => {
    const labels = `{environment="live",reason="${reason}"}`;
    return (await scrape())(`payments_funds_oldest_hold_seconds${labels}`)! / 86_400;
  };
  expect(await ageInDays('KYC_PENDING')).toBe(0);
  await block(HOLD_OR_DISPUTE, 90);
  const [recent, old] = [await block(KYC_PENDING, 10), await block(KYC_PENDING, 40)];
  await block(COMPLIANCE_HOLD, 20);
  await expect.poll(() => ageInDays('KYC_PENDING')).toBeCloseTo(40, 2);
  expect(await ageInDays('COMPLIANCE_HOLD')).toBeCloseTo(20, 2);
  const { blocks } = await client.scanOpenBlocks({ ...tenant, reason: KYC_PENDING });
  const ages = new Map(blocks.map(({ sourceId, openedAt }) => [sourceId, openedAt]));
  expect(ages).toEqual(new Map([recent, old].map(({ sourceId, openedAt }) => [sourceId, openedAt])));
  const { saleId, sourceId, reason } = old;
  await client.unblockFunds({ ...write(), saleId, sourceId, reason, outcome: BlockOutcome.RETURNED });
  await expect.poll(() => ageInDays('KYC_PENDING')).toBeCloseTo(10, 2);
});
