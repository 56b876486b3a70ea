import type { Tenant } from '../../platform/tenant.ts';

/** Identifies an advance request: the input of most workflows about one. */
export interface AdvanceRequestKey extends Tenant {
  readonly advanceRequestId: string;
}
