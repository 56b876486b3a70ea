import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import * as areaCheck from '../../workflows/area-check/area-check.contract.ts';
import { TASK_QUEUE } from '../../workflows/temporal/task-queue.ts';
import { verifyFunds } from '../services/funds/verification/verify-funds.ts';
import { startTemporal, type TestNamespace } from '../support/temporal.ts';
import { createTestNamespace } from '../support/temporal-namespace.ts';
import { ADVANCE_SAGAS } from './sagas/advance-sagas.ts';
import { DISPUTE_SAGAS } from './sagas/dispute-sagas.ts';
import { NOTICE_SAGA } from './sagas/notice-saga.ts';
import { REFUND_SAGAS } from './sagas/refund-sagas.ts';
import { effectsOf, eventually, type Saga, type SagaRun } from './sagas/saga.ts';
import { SagaSystem } from './sagas/saga-system.ts';

const SAGAS = [...REFUND_SAGAS, ...DISPUTE_SAGAS, ...ADVANCE_SAGAS, NOTICE_SAGA];
/** Every saga, once for each of its steps. */
const ROWS = SAGAS.flatMap((saga) => saga.steps.map((step) => ({ saga, step })));
const ROWS_WITHOUT_FAULT = SAGAS.map((saga) => ({ saga, step: undefined }));
/**
 * Steps of the relay, which is held as a whole, so that no other saga can be brought to its step after one of them.
 */
type RelayStep = 'after ClaimCommands' | 'before ConfirmCommands';
const RELAY_STEPS: readonly string[] = [
  'after ClaimCommands',
  'before ConfirmCommands',
] satisfies RelayStep[];
/** How long a call may take to reach its step. */
const MARGIN_MS = 3_000;
/** Below the twenty connections of the services, because calls do not wait long for one. */
const MAX_CONCURRENCY = 12;

interface PlannedRow {
  readonly saga: Saga;
  /** Undefined for a saga without a fault. */
  readonly step: string | undefined;
}

interface Row extends PlannedRow {
  readonly run: SagaRun;
}

/** A fault that is injected while sagas are held at their steps. */
interface Fault {
  readonly what: string;
  startTemporal(): Promise<TestNamespace>;
  inject(system: SagaSystem): Promise<void>;
  readonly relayStep: RelayStep;
  /** Whether it aborts open transactions. Other faults let them commit. */
  readonly abortsWrites?: boolean;
}

/** A Temporal server whose state can be deleted. */
let temporalWithoutStorage: Awaited<ReturnType<typeof startTemporal>>;

/** The one that takes longer to recover from comes first. A process recovers from a kill as from a pause. */
const FAULTS: readonly Fault[] = [
  {
    what: "Temporal's state is deleted",
    startTemporal: async () => {
      temporalWithoutStorage = await startTemporal({ durable: false });
      return temporalWithoutStorage;
    },
    async inject(system) {
      await temporalWithoutStorage.kill();
      await temporalWithoutStorage.loseState();
      await temporalWithoutStorage.start();
      await system.startWorker();
    },
    relayStep: 'before ConfirmCommands',
  },
  {
    what: 'its process is paused until everything else has ended',
    startTemporal: createTestNamespace,
    async inject(system) {
      system.pause();
      await system.releaseWrites();
      await system.startWorker();
    },
    relayStep: 'after ClaimCommands',
    abortsWrites: true,
  },
];

describe.concurrent('a saga has the same effects as without a fault, at each of its steps, when', {
  timeout: 900_000,
}, () => {
  it.each(FAULTS)('$what', async (fault) => {
    const { startTemporal, inject } = fault;
    using withoutFault = shareEffects();
    using lock = requestStartLock();
    await using system = await SagaSystem.start(await startTemporal());
    await lock.acquired;
    const rows = await startAndHold(system, [
      ...(withoutFault.isFirst ? ROWS_WITHOUT_FAULT : []),
      ...rowsOf(fault),
    ]);
    lock.release();
    await inject(system);
    await each(rows, ({ run }) => run.waitUntilDone(), rows.length);
    await each(rows, async ({ run }) => run.finish?.());
    // Held calls end after everything else.
    system.resume();
    await system.releaseSteps();
    await eventually(async () => expect(await system.unfinished()).toEqual([]));
    await eventually(async () => expect(await system.running()).toEqual([]));
    const effects = await effectsOfAll(system, rows);
    if (withoutFault.isFirst) withoutFault.resolve(effects);
    expect(effects).toEqual(expectedEffects(await withoutFault.promise, rows));
    await verifyFunds(system.world.harness);
    await expectAreasToAgree(system);
  });
});

/** The steps that the fault is tested at. */
function rowsOf({ relayStep, abortsWrites }: Fault): PlannedRow[] {
  return ROWS.filter(({ step }) => {
    if (step === relayStep) return true;
    return !RELAY_STEPS.includes(step) && (abortsWrites || !step.startsWith('within '));
  });
}

type Effects = Readonly<Record<string, object>>;
let sharedEffects: PromiseWithResolvers<Effects> | undefined;

/**
 * The effects of the sagas without a fault. The test that asks first runs them, and the other waits for its effects, at
 * the latest until the end of that test.
 */
function shareEffects() {
  const isFirst = sharedEffects === undefined;
  sharedEffects ??= Promise.withResolvers<Effects>();
  const { promise, resolve, reject } = sharedEffects;
  // Otherwise, a failure would be an unhandled rejection when only one of the tests runs.
  promise.catch(() => undefined);
  const giveUp = () =>
    isFirst && reject(new Error('the test that runs the sagas without a fault has failed'));
  return { isFirst, promise, resolve, [Symbol.dispose]: giveUp };
}

let previousRelease = Promise.resolve();

/**
 * A first-come, first-served lock on starting sagas. Starting all sagas needs the whole machine, so one fault's sagas start
 * at a time; recovery mostly waits, so recoveries overlap. The lock is released at the end of its scope at the latest.
 */
function requestStartLock() {
  const acquired = previousRelease;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  previousRelease = acquired.then(() => released);
  return { acquired, release, [Symbol.dispose]: release };
}

/** Starts all sagas, and resolves when each is held at its step; those without a step run to completion. */
async function startAndHold(system: SagaSystem, planned: readonly PlannedRow[]): Promise<Row[]> {
  const rows: Row[] = [];
  const prepare = (unprepared: readonly PlannedRow[]) =>
    each(unprepared, async ({ saga, step }) => {
      rows.push({ saga, step, run: await saga.prepare(system.world) });
    });
  const start = (started: readonly Row[]) =>
    each(started, async ({ step, run }) => {
      if (step) await system.hold(run.merchantId, step);
      await run.start();
    });
  const waitForSteps = (started: readonly Row[]) =>
    each(
      started,
      ({ step, run }) => (step ? system.waitUntilHeld(run.merchantId, step) : run.waitUntilDone()),
      started.length,
    );
  const [delayed, immediate] = partition(planned, ({ saga }) => saga.waitMs !== undefined);
  await system.waitUntilReady();
  await prepare(delayed);
  const delayedStep = delay(Math.max(MARGIN_MS, ...delayed.map(({ saga }) => saga.waitMs ?? 0)) - MARGIN_MS);
  await start(rows);
  await prepare(immediate);
  await delayedStep;
  const [last, others] = partition(rows, ({ step = '' }) => RELAY_STEPS.includes(step));
  await start(others.filter(({ saga }) => saga.waitMs === undefined));
  await waitForSteps(others);
  await start(last);
  await waitForSteps(last);
  return rows;
}

function partition<R>(rows: readonly R[], isFirst: (row: R) => boolean): [R[], R[]] {
  return [rows.filter(isFirst), rows.filter((row) => !isFirst(row))];
}

/** Processes the rows with limited concurrency, and reports those that fail. */
async function each<R extends PlannedRow>(
  rows: readonly R[],
  process: (row: R) => Promise<unknown>,
  concurrency = MAX_CONCURRENCY,
): Promise<void> {
  const failures: string[] = [];
  const remaining = rows.values();
  const processNext = async () => {
    for (const row of remaining)
      await process(row).catch((error) => failures.push(`${nameOf(row)}: ${error}`));
  };
  await Promise.all(Array.from({ length: concurrency }, processNext));
  expect(failures).toEqual([]);
}

const nameOf = ({ saga, step = 'without a fault' }: PlannedRow) => `${saga.name}, ${step}`;

async function effectsOfAll({ world }: SagaSystem, rows: readonly Row[]): Promise<Effects> {
  const all = rows.map(async (row) => [nameOf(row), await effectsOf(world, row.run)] as const);
  return Object.fromEntries(await Promise.all(all));
}

/** The expected effects of every row: those of its saga without a fault. */
function expectedEffects(effects: Effects, rows: readonly Row[]): Effects {
  return Object.fromEntries(rows.map((row) => [nameOf(row), effects[nameOf({ ...row, step: undefined })]!]));
}

async function expectAreasToAgree({ temporal }: SagaSystem): Promise<void> {
  const options = { taskQueue: TASK_QUEUE, workflowId: 'area-check-of-sagas', args: [{ recheckAfterMs: 1 }] };
  const result = await temporal.client.workflow.execute(areaCheck.workflowType, options);
  expect(result).toMatchObject({ candidates: 0, differences: [], failed: [] });
}
