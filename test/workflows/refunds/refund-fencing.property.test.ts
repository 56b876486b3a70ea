import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@connectrpc/connect';
import { ApplicationFailure } from '@temporalio/common';
import fc, { type Scheduler } from 'fast-check';
import { afterAll, expect, test, vi } from 'vitest';
import { FundsService } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  ApprovalMode,
  ProviderOutcome,
  RefundBlocker,
  RefundCaseService,
  ReviewDecision,
  RefundCaseStatus as Status,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { endDisputeHold, holdDisputedFunds } from '../../../workflows/refunds/dispute-hold.workflow.ts';
import {
  createRefundActivities,
  type RefundActivities,
} from '../../../workflows/refunds/refund.activities.ts';
import type { RefundClients } from '../../../workflows/refunds/refund-clients.ts';
import { executeRefund } from '../../../workflows/refunds/refund-execution.workflow.ts';
import { executeFundedRefunds } from '../../../workflows/refunds/refund-funding.workflow.ts';
import { endRefundHold, holdRefundFunds } from '../../../workflows/refunds/refund-hold.workflow.ts';
import { reverseRefund } from '../../../workflows/refunds/refund-reversal.workflow.ts';
import { verifyFunds } from '../../services/funds/verification/verify-funds.ts';
import { startHarness } from '../../support/harness.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { sqlOf } from '../../support/sql.ts';
import { merchantOf, type RefundMerchant } from './refund-harness.ts';

/**
 * The workflows of refunds without Temporal: their functions call the real activities, each of whose RPCs waits until
 * the scheduler releases it. So a run can be paused at any point while others, even of the same execution, continue.
 */

const current = vi.hoisted(() => ({ activities: {} as Record<string, (...args: never[]) => unknown> }));
vi.mock('@temporalio/workflow', () => ({
  proxyActivities: () =>
    new Proxy(
      {},
      {
        get:
          (_, name: string) =>
          (...args: never[]) =>
            current.activities[name]!(...args),
      },
    ),
  setCurrentDetails: () => undefined,
  log: { warn: () => undefined },
  continueAsNew: () => Promise.reject(new Error('no test needs so many refunds')),
}));

const harness = await startHarness({ SERVICES: 'refunds,funds', REFUND_EXECUTION: 'automatic' });
afterAll(() => harness.close());

const WORKFLOWS: Readonly<Record<string, (input: never) => Promise<unknown>>> = {
  executeRefund,
  executeFundedRefunds,
  holdRefundFunds,
  endRefundHold,
  reverseRefund,
  holdDisputedFunds,
  endDisputeHold,
};
const { SUCCEEDED, FAILED } = ProviderOutcome;

/** A client each of whose calls waits for the gate. */
const gated = <T extends object>(client: T, gate: (name: string) => Promise<unknown>): T =>
  new Proxy(client, {
    get(target, name) {
      const call = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]) => {
        await gate(String(name));
        return call(...args);
      };
    },
  });

/** The activities over clients whose calls wait for the gate. */
function activitiesBehind(gate: (name: string) => Promise<unknown>): RefundActivities {
  const { inProcess } = harness.transports;
  const clients: RefundClients = {
    refunds: gated(createClient(RefundCaseService, inProcess), gate),
    funds: gated(createClient(FundsService, inProcess), gate),
  };
  return createRefundActivities(clients);
}

/** What may happen during the execution; each is refused if the case does not allow it. */
const INTERRUPTIONS = ['cancel', 'earn', 'succeed', 'fail', 'again', 'end', 'dispute', 'block'] as const;
type Interruption = (typeof INTERRUPTIONS)[number];

function interrupt(of: RefundMerchant, refundCaseId: string, interruption: Interruption): Promise<unknown> {
  const input = { ...of.tenant, environment: 'live', refundCaseId } as const;
  switch (interruption) {
    case 'cancel':
      return of.refunds.cancelRefundCase({ ...of.write(), refundCaseId });
    case 'earn':
      return of.earn(400n);
    case 'succeed':
      return of.record(refundCaseId, SUCCEEDED);
    case 'fail':
      return of.record(refundCaseId, FAILED);
    case 'again':
      return executeFundedRefunds({ ...input, refundCaseId });
    case 'end':
      return endRefundHold(input);
    case 'dispute':
      return winDispute(of, refundCaseId);
    case 'block':
      return blockForAWhile(of, refundCaseId);
    default:
      return interruption satisfies never;
  }
}

/** The merchant wins a dispute of the payment, and the refund is approved again. */
async function winDispute(of: RefundMerchant, refundCaseId: string): Promise<void> {
  const { paymentIntentId, saleId } = await of.case(refundCaseId);
  const disputeId = await of.dispute(paymentIntentId, saleId);
  await of.refunds.closeDispute({ ...of.write(), disputeId });
  const approval = { decision: ReviewDecision.APPROVE, approvalMode: ApprovalMode.OPERATIONS };
  await of.refunds.reviewRefundCase({ ...of.write(), refundCaseId, ...approval });
}

async function blockForAWhile(of: RefundMerchant, refundCaseId: string): Promise<void> {
  const blocker = RefundBlocker.KYC_NOT_APPROVED;
  await of.refunds.addBlocker({ ...of.write(), refundCaseId, blocker });
  await of.refunds.clearBlocker({ ...of.write(), refundCaseId, blocker });
}

/** Runs the workflows of refunds that are to be started, until none is left; the others send mails. */
async function settle({ tenant }: RefundMerchant): Promise<void> {
  const endBy = performance.now() + 20_000;
  current.activities = retrying(
    activitiesBehind(async () => undefined),
    endBy,
  );
  const running = new Set<string>();
  while (performance.now() < endBy) {
    const starts = await sqlOf<{ id: string; type: string; input: never }>(
      harness,
      `select id, workflow_type as type, arguments->0 as input from platform.outbox_command
        where merchant_id = $1 and kind = 'START' and workflow_type <> 'notifyContact' order by id`,
      [tenant.merchantId],
    );
    if (starts.length === 0 && running.size === 0) return;
    for (const { id, type, input } of starts.filter((start) => !running.has(start.id))) {
      running.add(id);
      void WORKFLOWS[type]!(input)
        .then(() => sqlOf(harness, 'delete from platform.outbox_command where id = $1', [id]))
        .catch(() => undefined)
        .finally(() => running.delete(id));
    }
    await delay(5);
  }
  throw new Error('the workflows do not come to an end');
}

/** Like Temporal, repeats an activity that fails, as while another workflow has to end first; but only until `endBy`. */
const retrying = (activities: RefundActivities, endBy: number): RefundActivities =>
  new Proxy(activities, {
    get(target, name) {
      const activity = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]) => {
        for (;;) {
          try {
            return await activity(...args);
          } catch (error) {
            const isFinal = error instanceof ApplicationFailure && error.nonRetryable;
            if (isFinal || performance.now() > endBy) throw error;
            await delay(5);
          }
        }
      };
    },
  });

/** What happens before the paused run is resumed. */
const LATER: readonly Interruption[][] = [
  ['cancel', 'earn'],
  ['cancel'],
  ['earn', 'fail'],
  ['succeed'],
  ['dispute'],
  ['block', 'earn'],
  [],
];

/** The calls of a run that is paused before one of them until it is resumed. */
class Pause {
  readonly #run = new AsyncLocalStorage<true>();
  readonly #resumed = Promise.withResolvers<void>();
  #callsLeft: number;
  #isResumed = false;

  constructor(callsBefore: number) {
    this.#callsLeft = callsBefore;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    return this.#run.run(true, work);
  }

  /** Before every call: those of the paused run wait here; the scheduler releases the others. */
  async gate(pass: () => Promise<unknown>): Promise<void> {
    if (this.#run.getStore() && this.#callsLeft-- <= 0) await this.#resumed.promise;
    else if (!this.#isResumed) await pass();
  }

  resume(): void {
    this.#isResumed = true;
    this.#resumed.resolve();
  }
}

/**
 * Two runs of the execution and interruptions at once, then what happens later.
 * @param callsBeforePause of one of the runs: its next call is made when everything else has ended.
 */
async function play(
  scheduler: Scheduler,
  balance: bigint,
  hasSale: boolean,
  interruptions: readonly Interruption[][],
  later: readonly Interruption[],
  callsBeforePause: number,
): Promise<void> {
  const of = merchantOf(harness);
  const saleId = balance > 0n ? await of.earn(balance) : undefined;
  const id = await of.approved(400n, hasSale ? saleId : undefined);
  const input = { ...of.tenant, environment: 'live', refundCaseId: id, execution: 1 } as const;
  const pause = new Pause(callsBeforePause);
  current.activities = activitiesBehind((name) =>
    pause.gate(() => scheduler.schedule(Promise.resolve(), name)),
  );
  const ignore = () => undefined;
  const paused = pause.run(() => executeRefund(input).catch(ignore));
  const run = executeRefund(input).catch(ignore);
  const others = interruptions.map(async (sequence) => {
    for (const interruption of sequence) {
      await scheduler.schedule(Promise.resolve(), interruption);
      await interrupt(of, id, interruption).catch(ignore);
    }
  });
  await scheduler.waitFor(Promise.all([run, ...others]));
  await settle(of);
  for (const interruption of later) {
    await interrupt(of, id, interruption).catch(ignore);
    await settle(of);
  }
  pause.resume();
  await scheduler.waitFor(paused);
  await settle(of);
  const refundCase = await of.case(id);
  const [debit] = await sqlOf<{ live: boolean }>(
    harness,
    'select reversed_at is null as live from funds.refund_debit where refund_case_id = $1',
    [id],
  );
  const pending = await sqlOf(harness, 'select from funds.pending_debit where refund_case_id = $1', [id]);
  const { PROCESSING, FUNDING_REQUIRED } = Status;
  const isDebited = refundCase.status === PROCESSING || refundCase.status === Status.SUCCEEDED;
  expect({
    debited: debit?.live ?? false,
    waiting: pending.length,
    executing: refundCase.executionStartedAt !== undefined,
    approved: refundCase.status === Status.APPROVED_FOR_EXECUTION,
  }).toEqual({
    debited: isDebited,
    waiting: refundCase.status === FUNDING_REQUIRED ? 1 : 0,
    executing: false,
    approved: false,
  });
}

const RUNS = propertyRuns(40);

/** A refund that waits for the balance, until it rises or the case is canceled. Few random plays come to its end. */
const WAITING = (['earn', 'cancel'] as const).map((end): Parameters<typeof play> => {
  const [scheduler] = fc.sample(fc.scheduler(), 1);
  return [scheduler!, 0n, false, [['again']], [end], 6];
});

test('whatever is paused, a refund is debited if and only if it is processing or has succeeded', async () => {
  const sequence = fc.array(fc.constantFrom(...INTERRUPTIONS), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.constantFrom(0n, 300n, 400n, 1_000n),
      fc.boolean(),
      fc.array(sequence, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(...LATER),
      fc.nat(6),
      play,
    ),
    { numRuns: RUNS, endOnFailure: true, examples: WAITING },
  );
  await verifyFunds(harness);
}, 300_000);
