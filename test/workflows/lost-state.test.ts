import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { startHarness } from '../support/harness.ts';
import { startHarnessWorker } from '../support/harness-worker.ts';
import { startTemporal, TEMPORAL_START_MS, type TestTemporal } from '../support/temporal.ts';

const SOON = { timeout: 60_000, interval: 500 };

async function scheduleIds({ client }: TestTemporal): Promise<string[]> {
  return (await Array.fromAsync(client.schedule.list(), ({ scheduleId }) => scheduleId)).sort();
}

it(
  'makes its Schedules again in a Temporal that has lost its state under a connected worker',
  async () => {
    await using temporal = await startTemporal();
    const harness = await startHarness();
    const worker = await startHarnessWorker(harness, temporal, { hasSchedules: true });
    try {
      await expect.poll(() => scheduleIds(temporal), SOON).not.toEqual([]);
      await delay(1_000);
      const before = await scheduleIds(temporal);
      await temporal.kill();
      await temporal.loseState();
      await temporal.start();
      await vi.waitFor(async () => expect(await scheduleIds(temporal)).toEqual(before), SOON);
    } finally {
      await worker.close();
      await harness.close();
    }
  },
  TEMPORAL_START_MS,
);
