import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import {
  type RecordSaleRequest,
  type RecordSaleResponseSchema,
  SaleMethod,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { civilDateAt } from '../platform/civil-date.ts';
import { enumName } from '../platform/enum-name.ts';
import { alreadyExists, invalidArgument } from '../platform/errors.ts';
import { occurredAtOf } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { SaleEntity } from './funds.entity.ts';
import { salePartMessage } from './funds.message.ts';
import { FundsAccount } from './funds-account.ts';
import { newPart } from './installment.ts';
import { type CapturedSale, saleFault, scheduleSale } from './sale-schedule.ts';

/** Records a captured sale and schedules its parts; open debts are taken from them. */
export function recordSale(writes: Writes, request: RecordSaleRequest, context: HandlerContext) {
  const capturedAt = occurredAtOf(request, context);
  const saleId = request.saleId.toLowerCase();
  const sale = capturedSale(request, capturedAt);
  return writes.run<typeof RecordSaleResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, capturedAt);
    if (await tx.findOne(SaleEntity, { id: saleId })) {
      throw alreadyExists('SALE_ALREADY_RECORDED', 'this sale has been recorded');
    }
    const { method, grossMinor, feesMinor, installments } = sale;
    tx.create(SaleEntity, { id: saleId, method, grossMinor, feesMinor, installments, capturedAt });
    await tx.flush();
    const parts = scheduleSale(sale).map((part) => newPart(uuidv7(), saleId, part, account.today));
    await account.store(parts.map((after) => ({ before: null, after })));
    return { saleId, parts: (await account.parts.ofSale(saleId)).map(salePartMessage) };
  });
}

function capturedSale(request: RecordSaleRequest, capturedAt: Date): CapturedSale {
  const sale = {
    method: enumName(SaleMethod, request.method),
    capturedOn: civilDateAt(capturedAt),
    grossMinor: request.grossAmountMinor,
    feesMinor: request.feesAmountMinor,
    installments: request.installments,
  };
  const fault = saleFault(sale);
  switch (fault) {
    case null:
      return sale;
    case 'FEES_EXCEED_GROSS':
      throw invalidArgument(fault, 'fees_amount_minor: must not exceed gross_amount_minor', {
        field: 'fees_amount_minor',
      });
    case 'INSTALLMENTS_NOT_ALLOWED':
      throw invalidArgument(fault, 'installments: must be 1 for an instant transfer', {
        field: 'installments',
      });
    default:
      return fault satisfies never;
  }
}
