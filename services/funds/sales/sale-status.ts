import type { ReleaseStatus } from './installment.ts';

/** The state of a sale's funds. */
export type SaleStatus = 'SCHEDULED' | 'PARTIALLY_RELEASED' | 'RELEASED' | 'BLOCKED';

/** The status of a sale with installments in these statuses. */
export function saleStatusOf(installments: readonly ReleaseStatus[]): SaleStatus {
  if (installments.includes('BLOCKED')) return 'BLOCKED';
  if (!installments.includes('SCHEDULED')) return 'RELEASED';
  return installments.includes('RELEASED') ? 'PARTIALLY_RELEASED' : 'SCHEDULED';
}

/** `saleStatusOf` as an SQL expression over the installments of one sale. */
export const SALE_STATUS_SQL = `case when bool_or(status = 'BLOCKED') then 'BLOCKED'
       when bool_and(status = 'RELEASED') then 'RELEASED'
       when bool_or(status = 'RELEASED') then 'PARTIALLY_RELEASED' else 'SCHEDULED' end`;
