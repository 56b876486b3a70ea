import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import {
  type RecordSaleRequest,
  type RecordSaleResponseSchema,
  SaleMethod,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { civilDateAt } from '../platform/civil-date.ts';
import { enumName } from '../platform/enum-name.ts';
import { alreadyExists } from '../platform/errors.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import type { AccountWrites } from './account-writes.ts';
import { SaleEntity } from './funds.entity.ts';
import { saleInstallmentMessage } from './funds.message.ts';
import { FundsAccount } from './funds-account.ts';
import { newInstallment } from './installment.ts';
import { type CapturedSale, scheduleSale } from './sale-schedule.ts';

/**
 * Records a captured sale and schedules its installments. Blocks of the sale that came before it hold them, and open
 * debts are collected from the others.
 */
export function recordSale(writes: AccountWrites, request: RecordSaleRequest, context: HandlerContext) {
  const capturedAt = occurredAtOf(request, context);
  const saleId = request.saleId.toLowerCase();
  const sale = capturedSale(request, capturedAt);
  const schedule = scheduleSale(sale);
  return writes.run<typeof RecordSaleResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, capturedAt);
    if (await tx.findOne(SaleEntity, { id: saleId })) {
      throw alreadyExists('SALE_ALREADY_RECORDED', 'the sale has been recorded');
    }
    const { method, grossMinor, feesMinor, installments } = sale;
    tx.create(SaleEntity, { id: saleId, method, grossMinor, feesMinor, installments, capturedAt });
    await tx.flush();
    const changes = schedule.map((scheduled) => ({
      before: null,
      after: newInstallment(uuidv7(), saleId, scheduled, account.today),
    }));
    await account.store(changes);
    const recorded = await account.installments.ofSale(saleId);
    return { saleId, installments: recorded.map(saleInstallmentMessage) };
  });
}

function capturedSale(request: RecordSaleRequest, capturedAt: Date): CapturedSale {
  return {
    method: enumName(SaleMethod, request.method),
    capturedOn: civilDateAt(capturedAt),
    grossMinor: request.grossAmountMinor,
    feesMinor: request.feesAmountMinor,
    installments: request.installments,
  };
}
