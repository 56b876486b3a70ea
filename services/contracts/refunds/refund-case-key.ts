import type { Tenant } from '../../platform/tenant.ts';

/** Identifies a refund case: the input of most workflows about one. */
export interface RefundCaseKey extends Tenant {
  readonly refundCaseId: string;
}
