import type { Client } from '@connectrpc/connect';
import type { AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import type { FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { PayoutProviderService } from '../../proto/gen/payments/providers/v1/providers_pb.js';
import type { AdvanceRequestKey } from '../../services/contracts/advances/advance-request-key.ts';
import { tenantFields } from '../../services/platform/tenant.ts';

/** The services that the advance activities call. */
export interface AdvanceClients {
  readonly advances: Client<typeof AdvanceService>;
  readonly funds: Client<typeof FundsService>;
  /** Absent when payouts are not submitted by us. */
  readonly payoutProvider?: Client<typeof PayoutProviderService> | undefined;
}

export const advanceFields = ({ advanceRequestId, ...tenant }: AdvanceRequestKey) => ({
  ...tenantFields(tenant),
  advanceRequestId,
});
