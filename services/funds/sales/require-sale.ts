import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { notFound } from '../../platform/errors.ts';
import { SaleEntity } from '../funds.entity.ts';

/** Requires that the merchant has this sale in this environment. NOT_FOUND (SALE_NOT_FOUND). */
export async function requireSale(tx: TenantTransaction, saleId: string): Promise<void> {
  if ((await tx.findOne(SaleEntity, { id: saleId })) === null) throw saleNotFound();
}

/** NOT_FOUND (SALE_NOT_FOUND). */
export const saleNotFound = () => notFound('SALE_NOT_FOUND', 'the sale does not exist');
