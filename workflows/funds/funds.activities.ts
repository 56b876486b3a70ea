import type { CallOptions, Client } from '@connectrpc/connect';
import type { AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import type { DueReservation, FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { errorInfoOf } from '../../services/platform/errors.ts';
import { type EnvironmentName, environmentEnum, environmentName } from '../../services/platform/tenant.ts';
import { withFinalRefusals } from '../final-refusal.ts';

export interface FundsClients {
  readonly advances: Client<typeof AdvanceService>;
  readonly funds: Client<typeof FundsService>;
}

/** A request whose reserved parts are due. */
export interface DueRequest {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly advanceRequestId: string;
}

export interface ReleaseStep {
  readonly releasedParts: number;
  readonly dueRequests: readonly DueRequest[];
  readonly hasMore: boolean;
}

export type FundsActivities = ReturnType<typeof createFundsActivities>;

const CALL: CallOptions = { timeoutMs: 10_000 };
/**
 * A call releases up to twenty accounts, a thousand parts of each, and each account for itself: what it has done by its
 * deadline, the longest that the port takes, is done.
 */
const RELEASE_CALL: CallOptions = { timeoutMs: 60_000 };
const REFUSAL_REASON = 'The date of a covered part came before the payout.';

/** The activities of the daily release. */
export function createFundsActivities({ advances, funds }: FundsClients) {
  return withFinalRefusals({
    /** Releases some of what is due, and names the requests whose parts cannot be released while they are reserved. */
    async releaseDueFunds(): Promise<ReleaseStep> {
      const { releasedParts, dueReservations, hasMore } = await funds.releaseDueFunds({}, RELEASE_CALL);
      return { releasedParts, hasMore, dueRequests: dueReservations.map(dueRequest) };
    },

    /**
     * Refuses a due request and frees its parts. Fails, to be tried again, while the request is not there yet or its
     * payout is under way: its own workflow brings either to an end.
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
        if (state !== 'REFUSED') throw state === undefined ? error : new Error(`the request is ${state}`);
      }
      await funds.freeReservation(key, CALL);
      return 'REFUSED';
    },
  });
}

/** The state for which a request was not refused, NOT_REQUESTED while it is not there; undefined for other errors. */
function stateOf(error: unknown): string | undefined {
  const info = errorInfoOf(error);
  if (info?.reason === 'ADVANCE_REQUEST_NOT_FOUND') return 'NOT_REQUESTED';
  return info?.reason === 'ADVANCE_REQUEST_STATE' ? info.metadata.status : undefined;
}

function dueRequest({ merchantId, environment, advanceRequestId }: DueReservation): DueRequest {
  return { merchantId, environment: environmentName(environment), advanceRequestId };
}
