import { createClient, type Transport } from '@connectrpc/connect';
import { type AdvanceQuote, AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { fundsCaller } from '../funds/funds-caller.ts';

/** Sold on this day in three installments, due in 30, 60 and 90 days, all on business days. */
export const SOLD = '2020-06-20';

/** Short calls to the advances of one new merchant, who has sold for 144.00 in three installments. */
export async function advancesCaller(transport: Transport) {
  const funds = fundsCaller(transport);
  const client = createClient(AdvanceService, transport);
  const sale = await funds.sell({ on: SOLD, gross: 14_400n, installments: 3 });
  const key = (advanceRequestId: string, on?: string) => ({ ...funds.write(on), advanceRequestId });
  return {
    funds,
    client,
    sale,
    async quote(bounds: { maxAmountMinor?: bigint; toDate?: string } = {}, on = SOLD): Promise<AdvanceQuote> {
      return (await client.quoteAdvance({ ...funds.write(on), ...bounds })).quote!;
    },
    request: async (quoteId: string, on = SOLD) =>
      (await client.requestAdvance({ ...funds.write(on), quoteId })).advanceRequest!,
    approve: async (id: string, on = SOLD, reason?: string) =>
      (await client.approveAdvance({ ...key(id, on), reason })).advanceRequest!,
    refuse: async (id: string, on = SOLD) =>
      (await client.refuseAdvance({ ...key(id, on), reason: 'not this time' })).advanceRequest!,
    release: async (id: string, on = SOLD) => (await client.releaseAdvance(key(id, on))).advanceRequest!,
    settle: async (id: string, on?: string) => (await client.settleAdvance(key(id, on))).advanceRequest!,
    get: async (id: string) =>
      (await client.getAdvanceRequest({ ...funds.tenant, advanceRequestId: id })).advanceRequest!,
    setRate: async (monthlyRateBps: number | undefined, on?: string) =>
      (await client.setAdvanceRate({ ...funds.write(on), monthlyRateBps })).rate!,
    rate: async () => (await client.getAdvanceRate(funds.tenant)).rate!,
  };
}
