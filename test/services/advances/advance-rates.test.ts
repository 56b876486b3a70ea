import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { startHarness } from '../../support/harness.ts';
import { advancesCaller, SOLD } from './advances-caller.ts';

const harness = await startHarness({ SERVICES: 'funds,advances', ADVANCE_MONTHLY_RATE_BPS: '300' });
afterAll(() => harness.close());

describe("a merchant's rate", () => {
  const merchant = () => advancesCaller(harness.transports.inProcess);

  it('is the default until one is set, and again when it is removed', async () => {
    const { rate, setRate, quote } = await merchant();
    expect(await rate()).toMatchObject({ monthlyRateBps: 300, isDefault: true });
    expect((await rate()).effectiveFrom).toBeUndefined();
    const set = await setRate(125);
    expect(set).toMatchObject({ monthlyRateBps: 125, isDefault: false });
    expect(await rate()).toEqual(set);
    await setRate(undefined);
    expect(await rate()).toMatchObject({ monthlyRateBps: 300, isDefault: true });
    expect((await quote()).monthlyRateBps).toBe(300);
  });

  it('applies to later quotes; a quote and its request keep theirs', async () => {
    const { setRate, quote, request } = await merchant();
    const before = await quote();
    expect(before).toMatchObject({ monthlyRateBps: 300, feeAmountMinor: 864n });
    await setRate(100, SOLD);
    const after = await quote();
    expect(after).toMatchObject({ monthlyRateBps: 100, feeAmountMinor: 288n });
    expect(after.installments.map(({ feeAmountMinor }) => feeAmountMinor)).toEqual([48n, 96n, 144n]);
    await setRate(0, SOLD);
    expect(await quote()).toMatchObject({ monthlyRateBps: 0, feeAmountMinor: 0n, netAmountMinor: 14_400n });
    expect(await request(before.id)).toMatchObject({ feeAmountMinor: 864n, netAmountMinor: 13_536n });
  });

  it('set for a past day applies from that day until the next rate', async () => {
    const { setRate, quote } = await merchant();
    await setRate(500, '2020-06-25');
    const first = await setRate(400, '2020-06-22');
    expect(timestampDate(first.effectiveFrom!)).toEqual(new Date('2020-06-22T15:00:00Z'));
    const rates = [SOLD, '2020-06-22', '2020-06-24', '2020-06-25'].map((on) => quote({}, on));
    expect((await Promise.all(rates)).map(({ monthlyRateBps }) => monthlyRateBps)).toEqual([
      300, 400, 400, 500,
    ]);
  });

  it('belongs to one merchant in one environment', async () => {
    const { funds, client, setRate } = await merchant();
    await setRate(125);
    const elsewhere = { ...funds.tenant, environment: Environment.TEST };
    expect((await client.getAdvanceRate(elsewhere)).rate?.isDefault).toBe(true);
    expect((await (await merchant()).rate()).isDefault).toBe(true);
  });

  it('is 0 to 10000 basis points', async () => {
    const { setRate } = await merchant();
    for (const bps of [-1, 10_001])
      await expectRefusal(setRate(bps), Code.InvalidArgument, 'INVALID_ARGUMENT');
    expect((await setRate(10_000)).monthlyRateBps).toBe(10_000);
  });
});
