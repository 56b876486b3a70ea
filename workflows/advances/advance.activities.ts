import * as advanceRefusal from '../../services/contracts/advances/advance-refusal.contract.ts';
import * as advanceRelease from '../../services/contracts/advances/advance-release.contract.ts';
import * as advanceRequest from '../../services/contracts/advances/advance-request.contract.ts';
import type { AdvanceRequestKey } from '../../services/contracts/advances/advance-request-key.ts';
import { errorInfoOf } from '../../services/platform/rpc/connect-errors.ts';
import { tenantFields } from '../../services/platform/tenant.ts';
import { withFinalRefusals } from '../final-refusal.ts';
import { type AdvanceClients, advanceFields } from './advance-clients.ts';
import { createPayoutActivities } from './advance-payout.activities.ts';

export type AdvanceActivities = ReturnType<typeof createAdvanceActivities>;

/** The activities of advances. Each can be retried: the services return what they have committed. */
export function createAdvanceActivities(clients: AdvanceClients) {
  const { advances, funds } = clients;
  return withFinalRefusals({
    ...createPayoutActivities(clients),

    /**
     * Repeats the request of a quoted advance on behalf of its requester. When the quote can no longer be requested,
     * frees its reservation, which also keeps a delayed one from being made.
     */
    async finishAdvanceRequest(
      input: advanceRequest.CompleteAdvanceRequestInput,
    ): Promise<advanceRequest.CompleteAdvanceRequestResult> {
      const { quoteId, advanceRequestId } = input;
      const idempotencyKey = advanceRequest.workflowId(advanceRequestId);
      const tenant = tenantFields(input);
      try {
        await advances.requestAdvance({ ...tenant, idempotencyKey, quoteId });
        return 'REQUESTED';
      } catch (error) {
        switch (errorInfoOf(error)?.reason) {
          case 'QUOTE_ALREADY_REQUESTED':
            return 'REQUESTED';
          case 'QUOTE_STALE':
          case 'QUOTE_EXPIRED':
            await funds.freeReservation({ ...tenant, idempotencyKey, advanceRequestId });
            return 'REFUSED';
          default:
            throw error;
        }
      }
    },

    /** Finishes a payout that has started. */
    async finishAdvanceRelease(input: advanceRelease.ReleaseAdvanceInput): Promise<void> {
      const idempotencyKey = advanceRelease.workflowId(input.advanceRequestId);
      try {
        await advances.releaseAdvance({ ...advanceFields(input), idempotencyKey });
      } catch (error) {
        if (!isAlready(error, 'RELEASED', 'SETTLED')) throw error;
      }
    },

    /** Settles an advance after its last covered date. Fails, to be retried, while the service's clock is behind. */
    async settleReleasedAdvance(input: advanceRelease.ReleaseAdvanceInput): Promise<void> {
      const idempotencyKey = advanceRelease.workflowId(input.advanceRequestId);
      try {
        await advances.settleAdvance({ ...advanceFields(input), idempotencyKey });
      } catch (error) {
        if (isAlready(error, 'SETTLED')) return;
        const early = errorInfoOf(error)?.reason === 'ADVANCE_NOT_DUE';
        throw early ? new Error('the service still sees the last covered date as not passed') : error;
      }
    },

    /** Frees the reservation of a refused request. */
    async freeRefusedInstallments(input: AdvanceRequestKey): Promise<void> {
      const idempotencyKey = advanceRefusal.workflowId(input.advanceRequestId);
      await funds.freeReservation({ ...advanceFields(input), idempotencyKey });
    },
  });
}

/** Whether a transition was refused because the request is in one of these states already. */
function isAlready(error: unknown, ...statuses: readonly string[]): boolean {
  const info = errorInfoOf(error);
  return info?.reason === 'ADVANCE_REQUEST_STATE' && statuses.includes(info.metadata.status ?? '');
}
