import { setTimeout as delay } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import type { ReportedAttempt } from '../../../../services/webhooks/deliveries/delivery.ts';
import { RecordWorkflows } from '../../../../services/webhooks/deliveries/end-deliveries.ts';
import { ResultRecorder } from '../../../../services/webhooks/lanes/result-recorder.ts';

describe('results', () => {
  const success = (): ReportedAttempt => ({
    deliveryId: uuidv7(),
    number: 1,
    generation: 1n,
    owner: { lane: 1, epoch: 1n },
    workflowId: 'deliveries-now',
    startedAt: new Date(),
    outcome: { result: { endedAt: new Date(), httpStatus: 204 } },
  });

  function startRecorder() {
    const batches: number[] = [];
    const record = async (reports: readonly ReportedAttempt[]) => {
      batches.push(reports.length);
      return { recorded: new Map(), locked: new Set<string>() };
    };
    return { batches, recorder: new ResultRecorder({ record }, createLogger('fatal'), 'test') };
  }

  it('that nothing waits for are recorded together', async () => {
    const { batches, recorder } = startRecorder();
    let recorded = 0;
    const onRecorded = () => {
      recorded += 1;
    };
    for (let n = 0; n < 60; n += 1) {
      recorder.add(success(), { onRecorded, isPatient: true });
      await delay(1);
    }
    await expect.poll(() => recorded).toBe(60);
    expect(batches.length).toBeLessThanOrEqual(10);
  });

  it('that arrive just after others were recorded are recorded too', async () => {
    const { recorder } = startRecorder();
    const recorded = (isPatient: boolean) =>
      new Promise<void>((resolve) => {
        recorder.add(success(), { onRecorded: () => resolve(), isPatient });
      });
    for (let turns = 0; turns < 20; turns += 1) {
      await recorded(false);
      for (let turn = 0; turn < turns; turn += 1) await undefined;
      await recorded(true);
    }
  });

  it('are flushed while others keep arriving, so that lanes are handed over under load', async () => {
    const record = async () => {
      // Another result arrives while these are recorded, as always under load.
      if (arriving) recorder.add(success(), { onRecorded: () => undefined });
      await delay(1);
      return { recorded: new Map(), locked: new Set<string>() };
    };
    let arriving = true;
    const recorder = new ResultRecorder({ record }, createLogger('fatal'), 'test');
    let recorded = false;
    recorder.add(success(), {
      onRecorded: () => {
        recorded = true;
      },
    });
    await recorder.flush(60_000);
    expect(recorded).toBe(true);
    arriving = false;
  });

  it('that cannot be recorded, because their subscription is locked, do not delay a hand-over of lanes', async () => {
    let isLocked = true;
    const record = async (reports: readonly ReportedAttempt[]) => {
      const ids = reports.map(({ deliveryId }) => deliveryId);
      return { recorded: new Map(), locked: new Set(isLocked ? ids : []) };
    };
    const recorder = new ResultRecorder({ record }, createLogger('fatal'), 'test');
    const recorded = new Promise<void>((resolve) => {
      recorder.add(success(), { onRecorded: () => resolve() });
    });
    await recorder.flush(200);
    isLocked = false;
    await recorded;
  });
});

describe('the workflow that shows successes', () => {
  afterEach(() => vi.useRealTimers());

  /** The workflows of successes at these times, in milliseconds, and how many each shows. */
  function shownAt(times: readonly number[]): number[] {
    vi.useFakeTimers({ toFake: ['performance', 'Date'], now: Date.UTC(2026, 10, 23) });
    const workflows = new RecordWorkflows(uuidv7());
    const shown = new Map<string, number>();
    let nowMs = 0;
    for (const atMs of times) {
      vi.advanceTimersByTime(atMs - nowMs);
      nowMs = atMs;
      const id = workflows.idFor('live');
      shown.set(id, (shown.get(id) ?? 0) + 1);
    }
    return [...shown.values()];
  }
  const every = (ms: number, count: number) => Array.from({ length: count }, (_, n) => n * ms);

  it.each<[rate: string, times: number[], shown: number[]]>([
    ['2 a second: those of five seconds', every(500, 20), [10, 10]],
    ['20 a second: as many as a search finds', every(50, 100), [40, 40, 20]],
    ['100 a second: those of five seconds', every(10, 1_000), [500, 500]],
    ['1,000 a second: no more than fit', every(1, 4_000), [2_000, 2_000]],
  ])('shows, at %s', (_rate, times, shown) => {
    expect(shownAt(times)).toEqual(shown);
  });
});
