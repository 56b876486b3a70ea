import type { CallOptions, Client } from '@connectrpc/connect';
import { Context } from '@temporalio/activity';
import type { AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import type { DueReservation, FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { AdvanceRequestKey } from '../../services/contracts/advances/advance-request-key.ts';
import { DUE_REASON } from '../../services/contracts/advances/due-reason.ts';
import { errorInfoOf } from '../../services/platform/rpc/connect-errors.ts';
import { type Tenant, tenantFields, tenantOf } from '../../services/platform/tenant.ts';
import { withFinalRefusals } from '../final-refusal.ts';

export interface FundsClients {
  readonly advances: Client<typeof AdvanceService>;
  readonly funds: Client<typeof FundsService>;
}

/** One call of ReleaseDueFunds. */
export interface ReleaseStep {
  readonly releasedInstallments: number;
  /** The requests whose reserved installments cannot be released yet. */
  readonly dueRequests: readonly AdvanceRequestKey[];
  readonly hasMore: boolean;
  /** The last account visited, if there are more. */
  readonly next?: Tenant;
  /** How many of these accounts have more due. */
  readonly unfinishedAccounts: number;
  readonly failedAccounts: number;
}

export interface VerificationStep {
  readonly verifiedAccounts: number;
  readonly differences: number;
  readonly failedAccounts: number;
  /** The last account visited, if there are more. */
  readonly next?: Tenant;
}

export type FundsActivities = ReturnType<typeof createFundsActivities>;

/**
 * The longest deadline of the port. A call releases up to twenty accounts with a thousand installments each, and commits
 * each account, so that what is done by the deadline stays done.
 */
const RELEASE_CALL: CallOptions = { timeoutMs: 60_000 };
/** A request normally follows its reservation within a minute; this leaves time for an outage. */
const ABANDONED_AFTER_MS = 20 * 60_000;

/** The longest deadline of the port. A call takes up to half of it. */
const VERIFY_CALL: CallOptions = { timeoutMs: 60_000 };

/** The daily activities of funds. */
export function createFundsActivities({ advances, funds }: FundsClients) {
  return withFinalRefusals({
    /** Releases what is due of the next accounts after one. */
    async releaseDueFunds(after?: Tenant): Promise<ReleaseStep> {
      const { releasedInstallments, dueReservations, hasMore, next, unfinishedAccounts, failedAccounts } =
        await funds.releaseDueFunds({ ...positionOf(after) }, RELEASE_CALL);
      return {
        releasedInstallments,
        hasMore,
        unfinishedAccounts,
        failedAccounts: failedAccounts.length,
        dueRequests: dueReservations.map(dueRequest),
        ...(next && { next: tenantOf(next) }),
      };
    },

    /**
     * Refuses a due request and frees its installments. Fails, to be retried, while the request does not exist yet or
     * its payout is running: its own workflow ends either. A reservation whose request has not come for a long time is
     * abandoned and freed; if the request still comes, it is refused.
     */
    async refuseDueRequest(due: AdvanceRequestKey): Promise<'REFUSED' | 'PAID_OUT'> {
      const { advanceRequestId } = due;
      const key = { ...tenantFields(due), advanceRequestId, idempotencyKey: `due-${advanceRequestId}` };
      try {
        await advances.refuseAdvance({ ...key, reason: DUE_REASON });
      } catch (error) {
        const state = stateOf(error);
        if (state === 'RELEASED' || state === 'SETTLED') return 'PAID_OUT';
        const isAbandoned = state === 'NOT_REQUESTED' && waitedMs() > ABANDONED_AFTER_MS;
        if (state !== 'REFUSED' && !isAbandoned) {
          throw state === undefined ? error : new Error(`the request is ${state}`);
        }
      }
      await funds.freeReservation(key);
      return 'REFUSED';
    },

    /** Verifies the next accounts after one; a retry verifies them again. */
    async verifyAccounts(after?: Tenant): Promise<VerificationStep> {
      const { differences, verifiedAccounts, failures, next } = await funds.verifyFunds(
        { ...positionOf(after) },
        VERIFY_CALL,
      );
      return {
        verifiedAccounts,
        differences: differences.length,
        failedAccounts: failures.length,
        ...(next && { next: tenantOf(next) }),
      };
    },
  });
}

/** The state for which a request was not refused, NOT_REQUESTED while it is not there; undefined for other errors. */
function stateOf(error: unknown): string | undefined {
  const info = errorInfoOf(error);
  if (info?.reason === 'ADVANCE_REQUEST_NOT_FOUND') return 'NOT_REQUESTED';
  return info?.reason === 'ADVANCE_REQUEST_STATE' ? info.metadata.status : undefined;
}

const positionOf = (after: Tenant | undefined) => after && { after: tenantFields(after) };

/** The time since this activity was scheduled. */
function waitedMs(): number {
  return Date.now() - Context.current().info.scheduledTimestampMs;
}

const dueRequest = (reservation: DueReservation): AdvanceRequestKey => ({
  ...tenantOf(reservation),
  advanceRequestId: reservation.advanceRequestId,
});
