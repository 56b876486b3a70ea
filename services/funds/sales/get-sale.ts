import type { GetSaleRequest, GetSaleResponse } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { saleNotFound } from './require-sale.ts';
import { installmentMessage, saleMessage } from './sale.message.ts';
import { selectSale } from './sale.queries.ts';

/** A sale with its installments, read in one statement. NOT_FOUND (SALE_NOT_FOUND). */
export async function getSale(database: Database, request: GetSaleRequest): Promise<GetSaleResponse> {
  const rows = await database.read(selectSale({ ...tenantOf(request), id: request.saleId }));
  if (!rows[0]) throw saleNotFound();
  return {
    $typeName: 'payments.funds.v1.GetSaleResponse',
    sale: saleMessage(rows[0]),
    installments: rows.map(installmentMessage),
  };
}
