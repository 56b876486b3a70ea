import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import {
  type RecordSaleRequest,
  type RecordSaleResponse,
  type RecordSaleResponseSchema,
  SaleMethod,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { civilDateAt } from '../../platform/civil-date.ts';
import { enumName } from '../../platform/enum-name.ts';
import { alreadyExists } from '../../platform/errors.ts';
import { actorOf, requestIdOf } from '../../platform/rpc/call-context.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import type { AccountWrites } from '../account-writes.ts';
import { SaleEntity } from '../funds.entity.ts';
import { saleInstallmentMessage } from '../funds.message.ts';
import { FundsAccount } from '../funds-account.ts';
import { saleMovement } from '../statement/movement.ts';
import { newInstallment } from './installment.ts';
import type { NewSale } from './new-sales.ts';
import type { SaleIntake } from './sale-intake.ts';
import { scheduleSale } from './sale-schedule.ts';
import { saleColumnsOf } from './sale-store.ts';

/**
 * Records a captured sale and schedules its installments. Earlier blocks of the sale hold them, and open debts are
 * collected from the others. Sales of one account that arrive at the same time share a transaction.
 */
export async function recordSale(
  writes: AccountWrites,
  intake: SaleIntake,
  request: RecordSaleRequest,
  context: HandlerContext,
): Promise<RecordSaleResponse> {
  const sale = newSale(request, context);
  // A person's session and role are locked in the write's own transaction, which a shared one does not do.
  const recorded = actorOf(context) ? undefined : await intake.record(request, context, sale);
  return recorded ?? recordSaleAlone(writes, request, context, sale);
}

function recordSaleAlone(
  writes: AccountWrites,
  request: RecordSaleRequest,
  context: HandlerContext,
  sale: NewSale,
) {
  const { id, capturedAt } = sale;
  return writes.run<typeof RecordSaleResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, capturedAt);
    if (await tx.findOne(SaleEntity, { id })) {
      throw alreadyExists('SALE_ALREADY_RECORDED', 'the sale has been recorded');
    }
    tx.create(SaleEntity, saleColumnsOf(sale));
    await tx.flush();
    const changes = sale.installments.map((after) => ({ before: null, after }));
    await account.store({ installments: changes, movements: saleMovement(sale) });
    const recorded = await account.installments.ofSale(id);
    return { saleId: id, installments: recorded.map(saleInstallmentMessage) };
  });
}

function newSale(request: RecordSaleRequest, context: HandlerContext): NewSale {
  const capturedAt = occurredAtOf(request, context);
  const id = request.saleId.toLowerCase();
  const method = enumName(SaleMethod, request.method);
  const amounts = { grossMinor: request.grossAmountMinor, feesMinor: request.feesAmountMinor };
  const today = civilDateAt(capturedAt);
  const schedule = scheduleSale({
    method,
    capturedOn: today,
    ...amounts,
    installments: request.installments,
  });
  const installments = schedule.map((scheduled) => newInstallment(uuidv7(), id, scheduled, today));
  const facts = { id, method, ...amounts, capturedAt, ...saleReferences(request) };
  return { ...facts, requestId: requestIdOf(context), installments };
}

/** Trims references, so that they are found by what people type. */
function saleReferences({ orderId, orderNumber, productId, customerReference }: RecordSaleRequest) {
  return {
    orderId: orderId?.toLowerCase() ?? null,
    orderNumber: orderNumber?.trim() || null,
    productId: productId?.toLowerCase() ?? null,
    customerReference: customerReference?.trim() || null,
  };
}
