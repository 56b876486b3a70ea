import type { CallOptions, Client } from '@connectrpc/connect';
import { Context } from '@temporalio/activity';
import type { AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import type { DueReservation, FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { errorInfoOf } from '../../services/platform/rpc/connect-errors.ts';
import { type EnvironmentName, environmentEnum, environmentName } from '../../services/platform/tenant.ts';
import { withFinalRefusals } from '../final-refusal.ts';

export interface FundsClients {
  readonly advances: Client<typeof AdvanceService>;
  readonly funds: Client<typeof FundsService>;
}

/** A request whose reserved installments are due. */
export interface DueRequest {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly advanceRequestId: string;
}

export interface ReleaseStep {
  readonly releasedInstallments: number;
  readonly dueRequests: readonly DueRequest[];
  readonly hasMore: boolean;
}

/** An account, by its key. */
export interface AccountKey {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
}

export interface VerificationStep {
  readonly verifiedAccounts: number;
  readonly differences: number;
  /** The last account verified, when there are more. */
  readonly next?: AccountKey;
}

export type FundsActivities = ReturnType<typeof createFundsActivities>;

const CALL: CallOptions = { timeoutMs: 10_000 };
/**
 * A call releases up to twenty accounts, a thousand installments of each, and each account for itself: what it has done by its
 * deadline, the longest that the port takes, is done.
 */
const RELEASE_CALL: CallOptions = { timeoutMs: 60_000 };
/** A request is made, or given up for good, within a minute of its reservation; this is for services that were away. */
const LEFT_BEHIND_AFTER_MS = 20 * 60_000;
const REFUSAL_REASON = 'The date of a covered installment came before the payout.';

/** It stops for its time after the first account, which may have millions of installments: the port's longest again. */
const VERIFY_CALL: CallOptions = { timeoutMs: 60_000 };

/** The activities of what funds need every day. */
export function createFundsActivities({ advances, funds }: FundsClients) {
  return withFinalRefusals({
    /** Releases some of what is due, and names the requests whose installments cannot be released while they are reserved. */
    async releaseDueFunds(): Promise<ReleaseStep> {
      const { releasedInstallments, dueReservations, hasMore } = await funds.releaseDueFunds(
        {},
        RELEASE_CALL,
      );
      return { releasedInstallments, hasMore, dueRequests: dueReservations.map(dueRequest) };
    },

    /**
     * Refuses a due request and frees its installments. Fails, to be tried again, while the request is not there yet or its
     * payout is under way: its own workflow brings either to an end. A reservation whose request has not come in all
     * that time was left behind and is freed; a request that still came would meet it so.
     */
    async refuseDueRequest(due: DueRequest): Promise<'REFUSED' | 'PAID_OUT'> {
      const { merchantId, advanceRequestId } = due;
      const idempotencyKey = `due-${advanceRequestId}`;
      const key = {
        merchantId,
        advanceRequestId,
        environment: environmentEnum(due.environment),
        idempotencyKey,
      };
      try {
        await advances.refuseAdvance({ ...key, reason: REFUSAL_REASON }, CALL);
      } catch (error) {
        const state = stateOf(error);
        if (state === 'RELEASED' || state === 'SETTLED') return 'PAID_OUT';
        const isLeftBehind = state === 'NOT_REQUESTED' && waitedMs() > LEFT_BEHIND_AFTER_MS;
        if (state !== 'REFUSED' && !isLeftBehind) {
          throw state === undefined ? error : new Error(`the request is ${state}`);
        }
      }
      await funds.freeReservation(key, CALL);
      return 'REFUSED';
    },

    /** Verifies the next accounts behind one; a repetition verifies them again. */
    async verifyAccounts(after?: AccountKey): Promise<VerificationStep> {
      const position = after && { after: { ...after, environment: environmentEnum(after.environment) } };
      const { differences, verifiedAccounts, next } = await funds.verifyFunds({ ...position }, VERIFY_CALL);
      return {
        verifiedAccounts,
        differences: differences.length,
        ...(next && {
          next: { merchantId: next.merchantId, environment: environmentName(next.environment) },
        }),
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

/** For how long this activity has been tried. */
function waitedMs(): number {
  return Date.now() - Context.current().info.scheduledTimestampMs;
}

function dueRequest({ merchantId, environment, advanceRequestId }: DueReservation): DueRequest {
  return { merchantId, environment: environmentName(environment), advanceRequestId };
}
