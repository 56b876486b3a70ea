import { randomUUID } from 'node:crypto';
import { type Client, createClient } from '@connectrpc/connect';
import {
  RefundCaseService,
  RefundDebitOutcome,
  RefundInitiator,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { daysAgo } from '../../support/ago.ts';
import { newTenant, newWrite, type TestHarness, type TestTenant } from '../../support/harness.ts';

export type Refunds = Client<typeof RefundCaseService>;
export type Way = keyof TestHarness['transports'];

/** A client of refund cases and the steps that tests take with it, all of one merchant. */
export function refundsOf(harness: TestHarness, way: Way = 'inProcess', tenant: TestTenant = newTenant()) {
  const refunds: Refunds = createClient(RefundCaseService, harness.transports[way]);
  const write = () => newWrite(tenant);
  type Opening = Omit<Parameters<Refunds['openRefundCase']>[0], '$typeName'>;
  const open = async (overrides: Opening = {}) => {
    const { refundCase } = await refunds.openRefundCase({
      ...write(),
      paymentIntentId: randomUUID(),
      amountMinor: 1_000n,
      initiator: RefundInitiator.CUSTOMER,
      reason: 'does not fit',
      paidAmountMinor: 5_000n,
      paidAt: daysAgo(1),
      window: { case: 'refundWindowDays', value: 30 },
      ...overrides,
    });
    return refundCase!;
  };
  const start = async (refundCaseId: string) =>
    (await refunds.startRefund({ ...write(), refundCaseId })).refundCase!;
  const debit = async (refundCaseId: string, outcome = RefundDebitOutcome.DEBITED) =>
    (await refunds.recordRefundDebit({ ...write(), refundCaseId, outcome })).refundCase!;
  return {
    refunds,
    tenant,
    write,
    open,
    start,
    debit,
    /** A case whose debit is recorded. */
    processing: async (overrides: Opening = {}) => {
      const { id } = await open({ initiator: RefundInitiator.MERCHANT, ...overrides });
      await start(id);
      return debit(id);
    },
  };
}
