import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AdvanceRequestStatus } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  ActionOwner,
  RefundCaseAction,
  RefundCaseStatus,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { COMMAND_LEASE_MS } from '../../services/platform/outbox/workflow-command.ts';
import { allItems } from '../../services/platform/rpc/pages-of.ts';
import { type AreaCheckResult, workflowType } from '../../workflows/area-check/area-check.contract.ts';
import { TASK_QUEUE } from '../../workflows/temporal/task-queue.ts';
import { verifyFunds } from '../services/funds/verification/verify-funds.ts';
import { scrape } from '../support/scrape.ts';
import { sqlOf } from '../support/sql.ts';
import { TEMPORAL_START_MS } from '../support/temporal.ts';
import {
  expectEventsComplete,
  expectMoneyConserved,
  expectOpenCasesToHoldFunds,
  expectRefundsEnded,
  type MerchantBooks,
  OPEN,
  readBooks,
  readSubmissions,
} from './chaos-month/month-books.ts';
import { planMonthFaults, playMonthFaults } from './chaos-month/month-faults.ts';
import { dateOf, MonthMerchant, type Step } from './chaos-month/month-merchant.ts';
import { DAYS, EVERY_STATUS, planMonth } from './chaos-month/month-plan.ts';
import {
  type MonthSystem,
  PROCESSES,
  SILENT_AFTER_MS,
  startMonthSystem,
} from './chaos-month/month-system.ts';
import { clientsOf } from './command-builder.ts';

const SEED = Number(process.env.MONTH_SEED ?? randomInt(2 ** 31));
const MERCHANTS = Number(process.env.MONTH_MERCHANTS ?? 40);
const MONTH_MS = Number(process.env.MONTH_MINUTES ?? 0.75) * 60_000;
/** The number of merchants that act concurrently, each in the order of the days. */
const LANES = 20;
/**
 * Workflows are started again within a minute of the loss of Temporal's state; work of a killed process takes longer.
 */
const SETTLE_MS = 5 * 60_000;
const TEST_MS = MONTH_MS + SETTLE_MS + 120_000;

const log: string[] = [];
let system: MonthSystem;
let merchants: MonthMerchant[];
let books: MerchantBooks[];

beforeAll(async () => {
  console.info(`MONTH_SEED=${SEED}`);
  system = await startMonthSystem();
  await playMonth();
  await waitUntilSettled();
}, TEST_MS + TEMPORAL_START_MS);

afterAll(() => system?.[Symbol.asyncDispose]());

/** Each day takes its share of the month's time, while faults continue. */
async function playMonth(): Promise<void> {
  const clients = clientsOf(system.transport);
  const plans = [...planMonth(SEED, MERCHANTS), EVERY_STATUS];
  merchants = plans.map((_, n) => new MonthMerchant(clients, n % 2 ? Environment.LIVE : Environment.TEST));
  const steps = merchants.map((merchant, n) => merchant.steps(plans[n]!));
  const startedAt = Date.now();
  const startOfDay = (day: number) =>
    delay(Math.max(0, startedAt + ((day - 1) * MONTH_MS) / DAYS - Date.now()));
  const playLane = async (lane: readonly Step[]) => {
    for (const { day, run } of lane) {
      await startOfDay(day);
      await run();
    }
  };
  const releaseDays = async () => {
    for (let day = 1; day <= DAYS; day += 1) {
      await startOfDay(day);
      while ((await clients.funds.releaseDueFunds({ asOf: dateOf(day) })).hasMore);
    }
  };
  const lanes = Array.from({ length: LANES }, (_, lane) =>
    steps
      .filter((_steps, n) => n % LANES === lane)
      .flat()
      .sort((one, other) => one.day - other.day),
  );
  await Promise.all([
    playMonthFaults(planMonthFaults(SEED, MONTH_MS), system, (line) => log.push(line)),
    releaseDays(),
    ...lanes.map(playLane),
  ]);
  console.info(`the month took ${Date.now() - startedAt} ms\n${log.join('\n')}`);
}

async function inLanes<T, R>(items: readonly T[], call: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const work = async () => {
    for (const [index, item] of queue) results[index] = await call(item);
  };
  await Promise.all(Array.from({ length: LANES }, work));
  return results;
}

/** Work that the system does without people. */
const UNDONE = `
select 'command' as what, workflow_id as id from platform.outbox_command where kind <> 'START' or starts = 0
union all
select status, id::text from refunds.refund_case
 where execution_started_at is not null or status = 'APPROVED_FOR_EXECUTION' and blocked_by = '{}'
union all
select 'payout', id::text from advances.request
 where status = 'RELEASED' and payout_accepted_at is null and payout_attempts < 5`;

/** START commands, without those of workflows that wait for a date, a person or the provider. */
const COMMANDS_LEFT = `
select id, workflow_type, workflow_id, starts, due_at from platform.outbox_command c
 where (
   workflow_type = 'awaitMerchantReview' and exists (
     select from refunds.refund_case r
      where r.id::text = c.arguments -> 0 ->> 'refundCaseId' and r.status = 'MERCHANT_REVIEW')
   or workflow_type = 'releaseAdvance' and exists (
     select from advances.request a
      where a.id::text = c.arguments -> 0 ->> 'advanceRequestId' and a.status = 'RELEASED')
   or workflow_type = 'payOutAdvance' and exists (
     select from advances.request a
      where a.id::text = c.arguments -> 0 ->> 'advanceRequestId' and a.payout_accepted_at is null)
 ) is not true`;

/** Waits until nothing is left for the system to do without people. */
async function waitUntilSettled(): Promise<void> {
  const startedAt = Date.now();
  const wait = { timeout: SETTLE_MS, interval: 2_000 };
  await vi.waitFor(async () => {
    expect(await sqlOf(system, UNDONE)).toEqual([]);
    const { openReports, submissions } = readSubmissions(system.providerFile);
    expect(openReports).toBe(0);
    books = await inLanes(merchants, (merchant) => readBooks(system.transport, merchant));
    for (const [n, merchant] of merchants.entries()) {
      expectRefundsEnded(books[n]!, submissions);
      expectOpenCasesToHoldFunds(merchant, books[n]!);
      expectMoneyConserved(merchant, books[n]!);
    }
  }, wait);
  console.info(`settled after ${Date.now() - startedAt} ms`);
  // A START whose work another one has done stays until it is checked within the hour, so let an hour pass.
  await vi.waitFor(async () => {
    const left = await sqlOf<{ id: string }>(system, COMMANDS_LEFT);
    const ids = left.map(({ id }) => id);
    await sqlOf(system, 'update platform.outbox_command set due_at = now() where id = any ($1)', [ids]);
    expect(left).toEqual([]);
  }, wait);
  books = await inLanes(merchants, (merchant) => readBooks(system.transport, merchant));
  console.info(`nothing is left after ${Date.now() - startedAt} ms`);
}

const ENVIRONMENTS = { live: Environment.LIVE, test: Environment.TEST } as const;

/** A gauge by environment, from the process that is scraped. */
async function gauge(
  name: string,
  labels = '',
): Promise<Record<keyof typeof ENVIRONMENTS, number | undefined>> {
  const scraped = await scrape(system.opsUrls[0]);
  const of = (environment: string) => scraped(`${name}{environment="${environment}"${labels}}`);
  return { live: of('live'), test: of('test') };
}

const countByEnvironment = (records: readonly { environment: Environment }[]) => ({
  live: records.filter(({ environment }) => environment === Environment.LIVE).length,
  test: records.filter(({ environment }) => environment === Environment.TEST).length,
});

describe('a month in which every process is killed and the state of Temporal is deleted', () => {
  it('has killed every process and deleted the state of Temporal twice', () => {
    for (const target of PROCESSES) expect(log.join('\n')).toContain(`kill: ${target}`);
    expect(log.filter((line) => line.includes('lose state')).length).toBeGreaterThanOrEqual(2);
    expect(system.crashes()).toEqual([]);
  });

  it('has refund cases in every status, released advances, open and lost disputes', () => {
    const all = books.flatMap(({ cases }) => cases.map(({ status }) => RefundCaseStatus[status]));
    const names = Object.values(RefundCaseStatus).filter(
      (name) => typeof name === 'string' && name !== 'UNSPECIFIED',
    );
    expect([...new Set(all)].sort()).toEqual(names.sort());
    const advances = books.flatMap((ofMerchant) => ofMerchant.advances);
    expect(advances.map(({ status }) => status)).toContain(AdvanceRequestStatus.RELEASED);
    const confirmed = merchants.map((merchant) => merchant.confirmed);
    expect(confirmed.flatMap(({ lostSales }) => lostSales).length).toBeGreaterThan(0);
    expect(confirmed.flatMap(({ openDisputeIds }) => [...openDisputeIds]).length).toBeGreaterThan(0);
  });

  it('leaves each open case with a next step, an owner and a due time, and none overdue without an alert', async () => {
    const { refunds } = clientsOf(system.transport);
    const items = await allItems(
      (page) => refunds.listRefundCaseQueue(page),
      (answer) => answer.items,
    );
    const open = books.flatMap(({ cases }) => cases).filter(({ status }) => OPEN.has(status));
    expect(items.map(({ refundCase }) => refundCase!.id).sort()).toEqual(open.map(({ id }) => id).sort());
    for (const { nextAction, owner, dueAt } of items) {
      expect(nextAction).not.toBe(RefundCaseAction.UNSPECIFIED);
      expect(owner).not.toBe(ActionOwner.UNSPECIFIED);
      // A case that waits for a dispute has no due time itself: the dispute has one.
      if (nextAction !== RefundCaseAction.RESOLVE_DISPUTE) expect(dueAt).toBeDefined();
    }
    // Approved cases without blockers have been executed.
    expect(items.filter(({ owner }) => owner === ActionOwner.SERVICE)).toEqual([]);
    const overdueOf = (owner: ActionOwner) =>
      items
        .filter((item) => item.owner === owner && item.dueAt && timestampDate(item.dueAt) < new Date())
        .map(({ refundCase }) => refundCase!);
    await vi.waitFor(
      async () => {
        // RefundProviderSilent and RefundCasesOverdue fire for those in live.
        const silent = overdueOf(ActionOwner.PROVIDER);
        expect(silent.length).toBeGreaterThan(0);
        expect(await gauge('payments_refunds_provider_silent')).toEqual(countByEnvironment(silent));
        for (const owner of ['MERCHANT', 'OPERATIONS'] as const) {
          const overdue = overdueOf(ActionOwner[owner]);
          expect(overdue.length).toBeGreaterThan(0);
          expect(await gauge('payments_refunds_overdue', `,owner="${owner.toLowerCase()}"`)).toEqual(
            countByEnvironment(overdue),
          );
        }
      },
      { timeout: 2 * SILENT_AFTER_MS, interval: 1_000 },
    );
  });

  it('ends with each payout accepted, or stuck with an alert', async () => {
    const released = books
      .flatMap(({ advances }) => advances)
      .filter(({ status }) => status === AdvanceRequestStatus.RELEASED);
    const unpaid = released.filter(({ payout }) => payout?.acceptedAt === undefined);
    expect(unpaid.length).toBeGreaterThan(0);
    // PayoutsStuck fires for those in live.
    expect(await gauge('payments_payouts_stuck')).toEqual(countByEnvironment(unpaid));
  });

  it('leaves no refund waiting for a balance that covers it', async () => {
    const { funds } = clientsOf(system.transport);
    const covered = await inLanes(merchants, ({ tenant }) => funds.findCoveredRefund(tenant));
    expect(covered.filter(({ refundCaseId }) => refundCaseId !== undefined)).toEqual([]);
  });

  it('leaves no START that should have been sent again', async () => {
    const scraped = await scrape(system.opsUrls[0]);
    expect(scraped('payments_outbox_workflow_overdue_seconds')).toBeLessThan(COMMAND_LEASE_MS / 1_000);
    expect(scraped('payments_workflow_outbox_commands')).toBe(0);
    expect(scraped('payments_outbox_workflows')).toBeGreaterThan(0);
  });

  it('keeps the money of every merchant', () => {
    for (const [n, merchant] of merchants.entries()) expectMoneyConserved(merchant, books[n]!);
  });

  it('holds the funds of exactly the open cases and disputes', () => {
    for (const [n, merchant] of merchants.entries()) expectOpenCasesToHoldFunds(merchant, books[n]!);
  });

  it('debits a refund once, submits it once, and ends it as the provider does', () => {
    const { submissions } = readSubmissions(system.providerFile);
    for (const ofMerchant of books) expectRefundsEnded(ofMerchant, submissions);
  });

  it('leaves no gap in the events of any object', () => {
    for (const ofMerchant of books) expectEventsComplete(ofMerchant);
  });

  it('leaves funds that verify', async () => {
    const { transport } = system;
    const transports = { inProcess: transport, grpc: transport, grpcWeb: transport, connect: transport };
    expect(await verifyFunds({ transports })).toBeGreaterThanOrEqual(MERCHANTS);
  });

  it('leaves areas that agree', async () => {
    const options = { taskQueue: TASK_QUEUE, workflowId: `area-check-${randomUUID()}` };
    const result: AreaCheckResult = await system.temporal.client.workflow.execute(workflowType, {
      ...options,
      args: [{ recheckAfterMs: 2_000 }],
    });
    expect(result).toMatchObject({ candidates: 0, differences: [], failed: [], cutShort: [] });
    expect(result.compared).toBeGreaterThan(MERCHANTS);
  });
});
