import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import * as areaCheck from '../../workflows/area-check/area-check.contract.ts';
import { TASK_QUEUE } from '../../workflows/temporal/task-queue.ts';
import { verifyFunds } from '../services/funds/verify-funds.ts';
import { sqlOf } from '../support/harness-sql.ts';
import { startTemporal, type TestNamespace } from '../support/temporal.ts';
import { createTestNamespace } from '../support/temporal-namespace.ts';
import { ADVANCE_SAGAS } from './sagas/advance-sagas.ts';
import { DISPUTE_SAGAS } from './sagas/dispute-sagas.ts';
import { NOTICE_SAGA } from './sagas/notice-saga.ts';
import { REFUND_SAGAS } from './sagas/refund-sagas.ts';
import { effectsOf, recovers, type Saga, type SagaRun } from './sagas/saga.ts';
import { SagaSystem } from './sagas/saga-system.ts';

const SAGAS = [...REFUND_SAGAS, ...DISPUTE_SAGAS, ...ADVANCE_SAGAS, NOTICE_SAGA];
/** Every saga without a fault, and once for each of its steps. */
const ROWS = SAGAS.flatMap((saga) => [undefined, ...saga.steps].map((step) => ({ saga, step })));
/**
 * Steps of the relay, which is held as a whole, so that no other saga can be brought to its step after one of them.
 */
type RelayStep = 'after ClaimCommands' | 'before ConfirmCommands';
const RELAY_STEPS: readonly string[] = [
  'after ClaimCommands',
  'before ConfirmCommands',
] satisfies RelayStep[];
/** The time from a call to the step that it causes. */
const MARGIN_MS = 3_000;
/** Calls wait for one of twenty connections, but not for long. */
const AT_ONCE = 12;

interface PlannedRow {
  readonly saga: Saga;
  /** Undefined for a saga without a fault. */
  readonly step: string | undefined;
}

interface Row extends PlannedRow {
  readonly run: SagaRun;
}

/** A fault that strikes while sagas are held at their steps. */
interface Fault {
  readonly what: string;
  startTemporal(): Promise<TestNamespace>;
  strike(system: SagaSystem): Promise<void>;
  /** The steps at which it strikes; all by default. */
  readonly strikesAt?: (saga: Saga, step: string) => boolean;
  /** Whether held calls continue only after everything else has ended. Default: with the fault. */
  readonly late?: boolean;
  readonly relayStep: RelayStep;
  /** Whether it aborts a transaction. Other faults let it commit. */
  readonly stopsWrites?: boolean;
}

/** A Temporal that can lose its state. */
let perishable: Awaited<ReturnType<typeof startTemporal>>;

/** Those whose recovery takes longest come first. */
const FAULTS: readonly Fault[] = [
  {
    what: "Temporal's state is deleted",
    startTemporal: async () => {
      perishable = await startTemporal({ durable: false });
      return perishable;
    },
    async strike(system) {
      await perishable.kill();
      await perishable.loseState();
      await perishable.start();
      await system.startWorker();
      await system.letGo();
    },
    relayStep: 'before ConfirmCommands',
  },
  {
    // The other sagas recover from a kill as from a pause.
    what: 'its process is killed amid or after a write of a refund',
    startTemporal: createTestNamespace,
    async strike(system) {
      await system.kill();
      await system.letWritesGo();
      await system.startWorker();
    },
    relayStep: 'before ConfirmCommands',
    stopsWrites: true,
    strikesAt: (saga, step) => REFUND_SAGAS.includes(saga) && !step.startsWith('before '),
  },
  {
    what: 'its process is paused until everything else has ended',
    startTemporal: createTestNamespace,
    async strike(system) {
      system.pause();
      await system.letWritesGo();
      await system.startWorker();
    },
    late: true,
    relayStep: 'after ClaimCommands',
    stopsWrites: true,
  },
  {
    what: 'its workflow is terminated',
    startTemporal: createTestNamespace,
    async strike(system) {
      const { workflow } = system.temporal.client;
      for (const workflowId of await system.unfinished()) {
        // Those that the relay holds have not been started.
        await workflow
          .getHandle(workflowId)
          .terminate()
          .catch(() => undefined);
      }
      await system.startWorker();
      // By itself a START is sent again after a minute, then two, then four: longer than a test should wait.
      await sqlOf(
        system.world.harness,
        "update platform.outbox_command set due_at = now() where kind = 'START' and starts > 0",
      );
    },
    late: true,
    relayStep: 'after ClaimCommands',
  },
];

describe.concurrent('a saga ends as without a fault, at whichever step', { timeout: 600_000 }, () => {
  it.each(FAULTS)('$what', async (fault) => {
    const { startTemporal, strike, late } = fault;
    using turn = takeTurn();
    await using system = await SagaSystem.start(await startTemporal());
    await turn.comes;
    const rows = await bringToSteps(system, planFor(fault));
    turn.end();
    await strike(system);
    await each(rows, ({ run }) => run.isDone(), rows.length);
    await each(rows, async ({ run }) => run.end?.());
    if (late) {
      system.resume();
      await system.letGo();
    }
    await recovers(async () => expect(await system.unfinished()).toEqual([]));
    await recovers(async () => expect(await system.running()).toEqual([]));
    expect(await effectsOfAll(system, rows)).toEqual(await undisturbed(system, rows));
    await verifyFunds(system.world.harness);
    await areasAgree(system);
  });
});

/** The steps at which the fault strikes, and their sagas without it. */
function planFor({ relayStep, stopsWrites, strikesAt = () => true }: Fault): PlannedRow[] {
  const isStruck = ({ saga, step }: PlannedRow) => {
    if (step === undefined || step === relayStep) return true;
    if (RELAY_STEPS.includes(step) || (step.startsWith('within ') && !stopsWrites)) return false;
    return strikesAt(saga, step);
  };
  const rows = ROWS.filter(isStruck);
  return rows.filter(({ saga }) => rows.some((row) => row.saga === saga && row.step !== undefined));
}

let lastTurn = Promise.resolve();

/**
 * Starting all sagas needs the whole machine, recovery mostly waits: only the former runs one at a time, in the order in
 * which turns are taken. A turn ends with its scope at the latest.
 */
function takeTurn() {
  const comes = lastTurn;
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  lastTurn = comes.then(() => ended);
  return { comes, end, [Symbol.dispose]: end };
}

/** Brings each saga to its step at about the same time; those without a step run to their end. */
async function bringToSteps(system: SagaSystem, planned: readonly PlannedRow[]): Promise<Row[]> {
  const rows: Row[] = [];
  const prepare = (some: readonly PlannedRow[]) =>
    each(some, async ({ saga, step }) => {
      rows.push({ saga, step, run: await saga.prepare(system.world) });
    });
  const setOff = (some: readonly Row[]) =>
    each(some, async ({ step, run }) => {
      if (step) await system.hold(run.merchantId, step);
      await run.setOff();
    });
  const arrive = (some: readonly Row[]) =>
    each(some, ({ step, run }) => (step ? system.isHeld(run.merchantId, step) : run.isDone()), some.length);
  const [late, early] = partition(planned, ({ saga }) => saga.waitMs !== undefined);
  await system.isReady();
  await prepare(late);
  const isTime = delay(Math.max(MARGIN_MS, ...late.map(({ saga }) => saga.waitMs ?? 0)) - MARGIN_MS);
  await setOff(rows);
  await prepare(early);
  await isTime;
  const [last, others] = partition(rows, ({ step = '' }) => RELAY_STEPS.includes(step));
  await setOff(others.filter(({ saga }) => saga.waitMs === undefined));
  await arrive(others);
  await setOff(last);
  await arrive(last);
  return rows;
}

function partition<R>(rows: readonly R[], isFirst: (row: R) => boolean): [R[], R[]] {
  return [rows.filter(isFirst), rows.filter((row) => !isFirst(row))];
}

/** Works on all rows, on some of them at once, and names those that fail. */
async function each<R extends PlannedRow>(
  rows: readonly R[],
  work: (row: R) => Promise<unknown>,
  atOnce = AT_ONCE,
): Promise<void> {
  const failures: string[] = [];
  const left = rows.values();
  const workInTurn = async () => {
    for (const row of left) await work(row).catch((error) => failures.push(`${nameOf(row)}: ${error}`));
  };
  await Promise.all(Array.from({ length: atOnce }, workInTurn));
  expect(failures).toEqual([]);
}

const nameOf = ({ saga, step = 'undisturbed' }: PlannedRow) => `${saga.name}, ${step}`;

async function effectsOfAll({ world }: SagaSystem, rows: readonly Row[]): Promise<Record<string, object>> {
  const all = rows.map(async (row) => [nameOf(row), await effectsOf(world, row.run)] as const);
  return Object.fromEntries(await Promise.all(all));
}

/** The expected effects of every row: those of its saga without a fault. */
async function undisturbed(system: SagaSystem, rows: readonly Row[]): Promise<Record<string, object>> {
  const models = new Map<Saga, object>();
  for (const { saga, step, run } of rows) {
    if (step === undefined) models.set(saga, await effectsOf(system.world, run));
  }
  return Object.fromEntries(rows.map((row) => [nameOf(row), models.get(row.saga)!]));
}

async function areasAgree({ temporal }: SagaSystem): Promise<void> {
  const options = { taskQueue: TASK_QUEUE, workflowId: 'area-check-of-sagas', args: [{ recheckAfterMs: 1 }] };
  const result = await temporal.client.workflow.execute(areaCheck.workflowType, options);
  expect(result).toMatchObject({ candidates: 0, differences: [], failed: [] });
}
