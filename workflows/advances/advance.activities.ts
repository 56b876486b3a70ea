import type { CallOptions, Client } from '@connectrpc/connect';
import type { AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import type { FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import * as advanceRefusal from '../../services/contracts/advances/advance-refusal.contract.ts';
import * as advanceRelease from '../../services/contracts/advances/advance-release.contract.ts';
import * as advanceRequest from '../../services/contracts/advances/advance-request.contract.ts';
import { errorInfoOf } from '../../services/platform/rpc/connect-errors.ts';
import { environmentEnum } from '../../services/platform/tenant.ts';
import { withFinalRefusals } from '../final-refusal.ts';

export interface AdvanceClients {
  readonly advances: Client<typeof AdvanceService>;
  readonly funds: Client<typeof FundsService>;
}

export type AdvanceActivities = ReturnType<typeof createAdvanceActivities>;

const CALL: CallOptions = { timeoutMs: 10_000 };

/** The activities of advances. Each may be repeated: the services answer from what they have committed. */
export function createAdvanceActivities({ advances, funds }: AdvanceClients) {
  return withFinalRefusals({
    /**
     * Asks once more for the quoted advance, for whoever has taken the quote up. When the quote has come to nothing,
     * what is reserved for it is freed, and what would still come to be is kept from it.
     */
    async finishAdvanceRequest(
      input: advanceRequest.CompleteAdvanceRequestInput,
    ): Promise<advanceRequest.CompleteAdvanceRequestResult> {
      const { merchantId, quoteId, advanceRequestId } = input;
      const idempotencyKey = advanceRequest.workflowId(advanceRequestId);
      const tenant = { merchantId, environment: environmentEnum(input.environment) };
      try {
        await advances.requestAdvance({ ...tenant, idempotencyKey, quoteId }, CALL);
        return 'REQUESTED';
      } catch (error) {
        switch (errorInfoOf(error)?.reason) {
          case 'QUOTE_ALREADY_REQUESTED':
            return 'REQUESTED';
          case 'QUOTE_STALE':
          case 'QUOTE_EXPIRED':
            await funds.freeReservation({ ...tenant, idempotencyKey, advanceRequestId }, CALL);
            return 'REFUSED';
          default:
            throw error;
        }
      }
    },

    /** Carries a payout that has started to its end. */
    async finishAdvanceRelease(input: advanceRelease.ReleaseAdvanceInput): Promise<void> {
      const idempotencyKey = advanceRelease.workflowId(input.advanceRequestId);
      try {
        await advances.releaseAdvance({ ...requestOf(input), idempotencyKey }, CALL);
      } catch (error) {
        if (!isAlready(error, 'RELEASED', 'SETTLED')) throw error;
      }
    },

    /** Settles an advance whose last covered date has passed. A service whose clock is behind is asked again. */
    async settleReleasedAdvance(input: advanceRelease.ReleaseAdvanceInput): Promise<void> {
      const idempotencyKey = advanceRelease.workflowId(input.advanceRequestId);
      try {
        await advances.settleAdvance({ ...requestOf(input), idempotencyKey }, CALL);
      } catch (error) {
        if (isAlready(error, 'SETTLED')) return;
        const early = errorInfoOf(error)?.reason === 'ADVANCE_NOT_DUE';
        throw early ? new Error('the last covered date has not passed by the clock of the service') : error;
      }
    },

    /** Frees what a refused request had reserved. */
    async freeRefusedInstallments(input: advanceRefusal.FreeRefusedAdvanceInput): Promise<void> {
      const idempotencyKey = advanceRefusal.workflowId(input.advanceRequestId);
      await funds.freeReservation({ ...requestOf(input), idempotencyKey }, CALL);
    },
  });
}

const requestOf = (input: advanceRefusal.FreeRefusedAdvanceInput) => ({
  merchantId: input.merchantId,
  environment: environmentEnum(input.environment),
  advanceRequestId: input.advanceRequestId,
});

/** Whether a request was refused to move because it is where it was to go already. */
function isAlready(error: unknown, ...statuses: readonly string[]): boolean {
  const info = errorInfoOf(error);
  return info?.reason === 'ADVANCE_REQUEST_STATE' && statuses.includes(info.metadata.status ?? '');
}
