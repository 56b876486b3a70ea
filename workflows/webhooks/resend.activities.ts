import { setTimeout as delay } from 'node:timers/promises';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import {
  type DeliveryService,
  type DispatchService,
  type Resend,
  ResendState,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import {
  MAX_OPEN,
  type ResendDeliveriesInput,
  type ResendDeliveriesResult,
  workflowId,
} from '../../services/contracts/webhooks/resend-deliveries.contract.ts';
import { environmentEnum } from '../../services/platform/tenant.ts';
import { withFinalRefusals } from '../final-refusal.ts';
import { retryLater } from '../retry-later.ts';

interface Clients {
  readonly dispatch: Client<typeof DispatchService>;
  readonly deliveries: Client<typeof DeliveryService>;
}

export type ResendActivities = ReturnType<typeof createResendActivities>;

const CALL = { timeoutMs: 10_000 };
/** Between two steps, while there is more to make: up to five hundred deliveries a second. */
const STEP_MS = 200;
/** Then Temporal is told how far it is. */
const TURN_MS = 3_000;
/** Until a turn finds something to do: a twentieth of its age, so that it loses little time at little cost. */
const WAIT = { leastMs: 500, mostMs: 30_000, mostWithMoreMs: 5_000, ofAge: 1 / 20 };

/** The activities of resends. What they answer, and what their failures say, holds ids, states and numbers only. */
export function createResendActivities({ dispatch, deliveries }: Clients) {
  return withFinalRefusals({
    /**
     * One turn of a resend: steps as long as they get on. Answers once it has ended; until then it fails and
     * names the delay to the next turn.
     */
    async continueResend(resendId: string): Promise<ResendDeliveriesResult> {
      const endsAt = performance.now() + TURN_MS;
      for (let madeBefore = -1n; ; await delay(STEP_MS)) {
        const step = await dispatch.continueResend({ resendId, maxDeliveries: MAX_OPEN }, CALL);
        const resend = step.resend!;
        const state = endOf(resend);
        if (state !== undefined) return resultOf(state, resend);
        const isFull = resend.openCount >= MAX_OPEN && resend.madeCount === madeBefore;
        if (!step.more || isFull) throw retryLater(storyOf(resend), waitMs(resend, step.more));
        if (performance.now() >= endsAt) throw retryLater(storyOf(resend), STEP_MS);
        madeBefore = resend.madeCount;
      }
    },

    /** Ends the resend as CANCELED, if it has not ended. */
    async cancelResend({ resendId, merchantId, environment }: ResendDeliveriesInput): Promise<void> {
      const tenant = { merchantId, environment: environmentEnum(environment) };
      await deliveries.cancelResend({ ...tenant, resendId, idempotencyKey: workflowId(resendId) }, CALL);
    },
  });
}

function endOf({ state }: Resend): ResendDeliveriesResult['state'] | undefined {
  switch (state) {
    case ResendState.COMPLETED:
      return 'COMPLETED';
    case ResendState.CANCELED:
      return 'CANCELED';
    case ResendState.RUNNING:
    case ResendState.UNSPECIFIED:
      return undefined;
    default:
      return state satisfies never;
  }
}

function resultOf(state: ResendDeliveriesResult['state'], resend: Resend): ResendDeliveriesResult {
  const { madeCount, succeededCount, exhaustedCount, canceledCount } = resend;
  return {
    ...{ state, made: Number(madeCount), succeeded: Number(succeededCount) },
    ...{ exhausted: Number(exhaustedCount), canceled: Number(canceledCount) },
  };
}

function waitMs({ createdAt }: Resend, more: boolean): number {
  const wait = (Date.now() - timestampMs(createdAt!)) * WAIT.ofAge;
  return Math.min(Math.max(wait, WAIT.leastMs), more ? WAIT.mostWithMoreMs : WAIT.mostMs);
}

function storyOf(resend: Resend): string {
  const { madeCount, expectedCount, openCount, succeededCount, exhaustedCount, canceledCount } = resend;
  return (
    `${madeCount} of ${expectedCount} deliveries made: ${succeededCount} succeeded, ${openCount} open, ` +
    `${exhaustedCount} exhausted, ${canceledCount} canceled`
  );
}
