import { randomUUID } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { createClient, type Transport } from '@connectrpc/connect';
import {
  BlockOutcome,
  BlockReason,
  FundsReleaseStatus,
  FundsService,
  type RecordSaleRequestSchema,
  SaleMethod,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { newTenant, newWrite } from '../../support/harness.ts';

/** A sale as tests write it: amounts in centavos, `on` a date of the past at noon in São Paulo. */
export interface TestSale {
  readonly on?: string | undefined;
  readonly gross: bigint;
  readonly fees?: bigint;
  readonly installments?: number;
  readonly instant?: boolean;
  readonly saleId?: string;
  readonly sold?: Pick<
    MessageInitShape<typeof RecordSaleRequestSchema>,
    'orderId' | 'orderNumber' | 'productId' | 'customerReference'
  >;
}

/** Short calls to the funds of one new merchant, over a transport. Dates are of the past: the calls are backdated. */
export function fundsCaller(
  transport: Transport,
  tenant: Readonly<{ merchantId: string; environment: Environment }> = newTenant(),
) {
  const client = createClient(FundsService, transport);
  const write = (on?: string) => ({
    ...newWrite(tenant),
    ...(on !== undefined && { occurredAt: timestampFromDate(new Date(`${on}T15:00:00Z`)) }),
  });
  return {
    client,
    tenant,
    write,
    async sell(sale: TestSale) {
      const { installments, saleId } = await client.recordSale({
        ...write(sale.on),
        ...sale.sold,
        saleId: sale.saleId ?? randomUUID(),
        method: sale.instant ? SaleMethod.INSTANT_TRANSFER : SaleMethod.CARD,
        grossAmountMinor: sale.gross,
        feesAmountMinor: sale.fees ?? 0n,
        installments: sale.installments ?? 1,
      });
      return { saleId, installments };
    },
    deduct: (amountMinor: bigint, saleId?: string, on?: string) =>
      client.applyDeduction({ ...write(on), sourceId: randomUUID(), amountMinor, saleId }),
    block: (
      saleId: string,
      sourceId: string = randomUUID(),
      reason = BlockReason.HOLD_OR_DISPUTE,
      on?: string,
      amountMinor?: bigint,
    ) => client.blockFunds({ ...write(on), saleId, sourceId, reason, amountMinor }),
    unblock: (
      saleId: string,
      sourceId: string,
      outcome = BlockOutcome.RETURNED,
      reason = BlockReason.HOLD_OR_DISPUTE,
      on?: string,
    ) => client.unblockFunds({ ...write(on), saleId, sourceId, outcome, reason }),
    async advanceable(on?: string) {
      const { occurredAt } = write(on);
      return client.listAdvanceableInstallments({ ...tenant, occurredAt });
    },
    reserve: (
      installments: readonly { id: string; version: bigint }[],
      advanceRequestId: string,
      on?: string,
    ) =>
      client.reserveForAdvance({
        ...write(on),
        advanceRequestId,
        installments: installments.map(({ id, version }) => ({ installmentId: id, version })),
      }),
    free: (advanceRequestId: string, on?: string) =>
      client.freeReservation({ ...write(on), advanceRequestId }),
    settle: (advanceRequestId: string, on?: string) =>
      client.settleReservation({ ...write(on), advanceRequestId }),
    debit: (refundCaseId: string, amountMinor: bigint, saleId?: string, on?: string) =>
      client.debitForRefund({ ...write(on), refundCaseId, amountMinor, saleId }),
    reverse: (refundCaseId: string, on?: string) => client.reverseRefundDebit({ ...write(on), refundCaseId }),
    releaseDue: (asOf?: string) => client.releaseDueFunds({ ...tenant, asOf }),
    balance: () => client.getBalance(tenant),
    /** All rows as [date, status, deductions, advanced, left, sales]. */
    async rows() {
      const { releases } = await client.listFundsReleases({ ...tenant, pageSize: 100 });
      return releases.map((row) => [
        row.date,
        FundsReleaseStatus[row.status],
        row.deductionsAmountMinor,
        row.advancedAmountMinor,
        row.blockedAmountMinor + row.releasedAmountMinor + row.scheduledAmountMinor,
        row.salesCount,
      ]);
    },
  };
}

export type FundsCaller = ReturnType<typeof fundsCaller>;
