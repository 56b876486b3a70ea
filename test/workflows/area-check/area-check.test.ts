import { randomUUID } from 'node:crypto';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BlockOutcome, BlockReason } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  DisputeOutcome,
  ProviderOutcome,
  RefundCaseStatus,
  RefundInitiator,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as disputeHold from '../../../services/contracts/refunds/dispute-hold.contract.ts';
import { metrics } from '../../../services/platform/process/telemetry.ts';
import {
  AREA_RULES,
  type AreaCheckResult,
  type AreaRule,
  scheduleId,
  workflowType,
} from '../../../workflows/area-check/area-check.contract.ts';
import { TASK_QUEUE } from '../../../workflows/temporal/task-queue.ts';
import { startProvider, type TestProvider } from '../../support/provider-server.ts';
import { sqlOf } from '../../support/sql.ts';
import { TEMPORAL_START_MS } from '../../support/temporal.ts';
import { eventually, merchantOf, startRefundHarness } from '../refunds/refund-harness.ts';
import { type AreaBooks, type AreaHarness, playAreas } from './area-books.ts';
import { AREA_CORRUPTIONS } from './area-corruptions.ts';

const { EVENT_TYPE_TIMER_STARTED } = proto.temporal.api.enums.v1.EventType;

/** Long enough to repair a record between the looks. */
const LATER_MS = 5_000;

/** All corruptions, in rounds that break each record once at most: a check takes long, however much it finds. */
const CORRUPTIONS_BY_ROUND = Map.groupBy(AREA_CORRUPTIONS, (corruption, at) => {
  const earlier = AREA_CORRUPTIONS.slice(0, at);
  return earlier.filter(({ record }) => record === corruption.record).length;
});
const ROUNDS = [...CORRUPTIONS_BY_ROUND.values()].map((round) => ({
  round,
  rules: round.map(({ rule, record }) => `${rule} at ${record}`).join(', '),
}));

let provider: TestProvider;
let running: AreaHarness;
let books: AreaBooks;
beforeAll(async () => {
  provider = await startProvider();
  const { PAYOUT_PROVIDER_URL, PAYOUT_PROVIDER_TOKEN } = provider.settings;
  running = await startRefundHarness(
    { REFUND_EXECUTION: 'automatic', PAYOUT_PROVIDER_URL, PAYOUT_PROVIDER_TOKEN },
    { hasSchedules: true },
  );
  books = await playAreas(running, provider);
  // Holds, their ends and reversals follow asynchronously.
  await eventually(async () => expect(await check()).toMatchObject({ candidates: 0, failed: [] }));
}, TEMPORAL_START_MS + 60_000);
afterAll(async () => {
  await running?.close();
  await provider?.[Symbol.asyncDispose]();
});

function startCheck(recheckAfterMs: number) {
  const options = { taskQueue: TASK_QUEUE, workflowId: `area-check-${randomUUID()}` };
  return running.temporal.client.workflow.start(workflowType, { ...options, args: [{ recheckAfterMs }] });
}

async function check(recheckAfterMs = 1): Promise<AreaCheckResult> {
  return (await startCheck(recheckAfterMs)).result();
}

async function countedBy(rule: AreaRule): Promise<number> {
  const { values } = await metrics.getSingleMetric('payments_area_differences_total')!.get();
  return values.find(({ labels }) => labels.rule === rule)!.value;
}

describe('the area check', () => {
  it('compares every record, and finds no difference after completed flows', async () => {
    const started = Date.now() / 1_000;
    const result = await check();
    expect(result).toMatchObject({
      candidates: 0,
      differences: [],
      differenceCount: 0,
      failed: [],
      cutShort: [],
    });
    // Two debits, one that is pending, three open cases, four disputes and a hold of another team, three advances, and
    // the deductions of the four disputes.
    expect(result.compared).toBe(18);
    const { values } = await metrics.getSingleMetric('payments_area_check_end_timestamp_seconds')!.get();
    expect(values[0]!.value).toBeGreaterThanOrEqual(started);
  });

  it.each(ROUNDS)('finds exactly $rules', async ({ round }) => {
    const { merchantId } = books.merchant.tenant;
    const before = await Promise.all(round.map(({ rule }) => countedBy(rule)));
    for (const { record, breaking } of round) await sqlOf(running.harness, breaking, [books[record]]);
    const { differences, differenceCount } = await check();
    for (const { record, repair } of round) await sqlOf(running.harness, repair, [books[record]]);
    const broken = round.map(({ rule, record }) => `${rule} ${books[record]}`);
    expect(differences.map(({ rule, id }) => `${rule} ${id}`).sort()).toEqual(broken.sort());
    for (const difference of differences)
      expect(difference).toMatchObject({ merchantId, environment: 'live' });
    expect(differenceCount).toBe(round.length);
    for (const [at, { rule }] of round.entries()) {
      const sameRule = round.filter((other) => other.rule === rule);
      expect(await countedBy(rule)).toBe(before[at]! + sameRule.length);
    }
    expect(await check()).toMatchObject({ candidates: 0 });
  });

  it('reports a lost dispute whose sale is not recorded until it is deducted by hand', async () => {
    const { refunds, funds, write, dispute } = books.merchant;
    const saleId = randomUUID();
    const disputeId = await dispute(randomUUID(), saleId);
    await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
    await eventually(async () => {
      const { differences } = await check();
      const rules = ['HOLD_OF_CLOSED_DISPUTE', 'LOST_DISPUTE_WITHOUT_DEDUCTION'];
      expect(differences).toMatchObject(rules.map((rule) => ({ rule, id: disputeId })));
    });
    const block = { saleId, sourceId: disputeId, reason: BlockReason.HOLD_OR_DISPUTE };
    await funds.client.unblockFunds({ ...write(), ...block, outcome: BlockOutcome.RETURNED });
    await funds.client.applyDeduction({ ...write(), sourceId: disputeId, amountMinor: 100n });
    await eventually(async () =>
      expect(await running.resultOf(disputeHold.endWorkflowId(disputeId))).toBe('ENDED'),
    );
    expect(await check()).toMatchObject({ candidates: 0 });
  });

  it('reports no lost dispute of a payment of which nothing was left', async () => {
    const { refunds, tenant, write, open, dispute, earn, record, becomes } = merchantOf(running.harness);
    await earn(100n);
    const { id, paymentIntentId } = await open({
      initiator: RefundInitiator.MERCHANT,
      amountMinor: 90n,
      paidAmountMinor: 100n,
    });
    await becomes(id, RefundCaseStatus.PROCESSING);
    await record(id, ProviderOutcome.SUCCEEDED);
    const taken: (bigint | undefined)[] = [];
    for (const amountMinor of [100n, 100n]) {
      const disputeId = await dispute(paymentIntentId, undefined, amountMinor);
      await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
      taken.push((await refunds.getDispute({ ...tenant, disputeId })).dispute!.lostAmountMinor);
    }
    expect(taken).toEqual([10n, 0n]);
    await eventually(async () => expect(await check()).toMatchObject({ candidates: 0, failed: [] }));
  });

  it('is tested with every rule', () => {
    expect(new Set(AREA_CORRUPTIONS.map(({ rule }) => rule))).toEqual(new Set(AREA_RULES));
  });

  it('reports no difference that is gone after the wait', async () => {
    const { breaking, repair, record, rule } = AREA_CORRUPTIONS[0]!;
    const before = await countedBy(rule);
    await sqlOf(running.harness, breaking, [books[record]]);
    const handle = await startCheck(LATER_MS);
    await eventually(async () => {
      const { events } = await handle.fetchHistory();
      expect(events?.map(({ eventType }) => eventType)).toContain(EVENT_TYPE_TIMER_STARTED);
    });
    await sqlOf(running.harness, repair, [books[record]]);
    expect(await handle.result()).toMatchObject({ candidates: 1, differences: [], differenceCount: 0 });
    expect(await countedBy(rule)).toBe(before);
  });

  it('continues where the previous run ended', async () => {
    const { merchantId } = books.merchant.tenant;
    const after = { merchantId, environment: 'test', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
    const progress = {
      remaining: ['ADVANCES'],
      after,
      compared: 7,
      candidates: [],
      failed: [],
      cutShort: [],
    };
    const options = { taskQueue: TASK_QUEUE, workflowId: randomUUID(), args: [{ progress }] };
    const result = await running.temporal.client.workflow.execute(workflowType, options);
    expect(result).toMatchObject({ compared: 7, candidates: 0 });
  });

  it('waits five minutes by default, and is started by Temporal every night after the verification of funds', async () => {
    const { breaking, repair, record } = AREA_CORRUPTIONS[0]!;
    await sqlOf(running.harness, breaking, [books[record]]);
    const options = { taskQueue: TASK_QUEUE, workflowId: randomUUID(), args: [] };
    const handle = await running.temporal.client.workflow.start(workflowType, options);
    await eventually(async () => {
      const { events } = await handle.fetchHistory();
      const timer = events?.find(({ eventType }) => eventType === EVENT_TYPE_TIMER_STARTED);
      const { startToFireTimeout } = timer?.timerStartedEventAttributes ?? {};
      expect(Number(startToFireTimeout?.seconds)).toBe(300);
    });
    await handle.terminate();
    await sqlOf(running.harness, repair, [books[record]]);
    const { info, spec } = await running.temporal.client.schedule.getHandle(scheduleId).describe();
    expect(spec.timezone).toBe('America/Sao_Paulo');
    expect(info.nextActionTimes[0]?.toISOString()).toMatch(/T07:31:00.000Z$/);
  });
});
