import { setTimeout as delay } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import type { ReportedAttempt } from '../../../../services/webhooks/deliveries/delivery.ts';
import { nameRecordWorkflows } from '../../../../services/webhooks/lanes/record-workflows.ts';
import { ReportBuffer } from '../../../../services/webhooks/lanes/report-buffer.ts';
import { newTenant } from '../../../support/harness.ts';
import { eventually, startLanesFixture } from './lanes-fixture.ts';

it('results that nothing waits for are recorded together', async () => {
  await using webhooks = await startLanesFixture();
  const tenant = newTenant(Environment.TEST);
  const { endpoint } = await webhooks.subscribed(tenant);
  endpoint.answer(async (_request, response) => {
    await delay(20);
    response.writeHead(204).end();
  });
  const startedAtMs = performance.now();
  await webhooks.publishMany(tenant, 150);
  const ended = () =>
    webhooks.sql<{ transaction: string }>(
      `select xmin::text as transaction from webhooks.ended_delivery
        where merchant_id = $1 and event_type <> 'webhook.ping.v1'`,
      [tenant.merchantId],
    );
  await eventually(async () => expect(await ended()).toHaveLength(150));
  const tookMs = performance.now() - startedAtMs;
  const transactions = new Set((await ended()).map(({ transaction }) => transaction));
  expect(transactions.size).toBeLessThanOrEqual(tookMs / 50);
});

/** Results that arrive at a certain moment of a recording, which PostgreSQL cannot be made to wait for: its recorder is replaced. */
describe('results', () => {
  const success = (): ReportedAttempt => ({
    deliveryId: uuidv7(),
    number: 1,
    generation: 1n,
    owner: { lane: 1, epoch: 1n },
    workflowId: 'deliveries-now',
    startedAt: new Date(),
    result: { endedAt: new Date(), httpStatus: 204 },
  });

  const NONE = { recorded: new Set<string>(), locked: new Set<string>() };

  it('that arrive just after others were recorded are recorded too', async () => {
    const recorder = new ReportBuffer({ record: async () => NONE }, createLogger('fatal'));
    const recorded = (isUrgent: boolean) =>
      new Promise<void>((resolve) => {
        recorder.add(success(), { onRecorded: () => resolve(), isUrgent });
      });
    for (let turns = 0; turns < 20; turns += 1) {
      await recorded(true);
      for (let turn = 0; turn < turns; turn += 1) await undefined;
      await recorded(false);
    }
  });

  it('are flushed while others keep arriving, so that lanes are handed over under load', async () => {
    const record = async () => {
      // Another result arrives while these are recorded, as always under load.
      if (arriving) recorder.add(success(), { onRecorded: () => undefined });
      await delay(1);
      return NONE;
    };
    let arriving = true;
    const recorder = new ReportBuffer({ record }, createLogger('fatal'));
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

  it('that were recorded before the database failed are not recorded again with those that it rejected', async () => {
    const reports = [success(), success(), success(), success()];
    const rejected = reports[0]!.deliveryId;
    let isAway = true;
    const recordedTogether: (readonly string[])[] = [];
    const record = async (batch: readonly ReportedAttempt[]) => {
      const ids = batch.map(({ deliveryId }) => deliveryId);
      if (ids.includes(rejected)) throw new Error('a value cannot be stored');
      // Goes away when the second half of the batch is recorded.
      if (isAway && ids.includes(reports[2]!.deliveryId)) {
        isAway = false;
        throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      }
      recordedTogether.push(ids);
      return { recorded: new Set(ids), locked: new Set<string>() };
    };
    const recorder = new ReportBuffer({ record }, createLogger('fatal'));
    const outcomes = reports.map(() => 0);
    for (const [index, report] of reports.entries()) {
      recorder.add(report, {
        onRecorded: () => {
          outcomes[index]! += 1;
        },
      });
    }
    await recorder.flush(60_000);
    expect(recorder.setAsideIds).toEqual([rejected]);
    expect(outcomes).toEqual([0, 1, 1, 1]);
    expect(recordedTogether.flat().sort()).toEqual(
      reports
        .slice(1)
        .map(({ deliveryId }) => deliveryId)
        .sort(),
    );
  });
});

describe('the workflow that shows successes', () => {
  afterEach(() => vi.useRealTimers());

  /** The workflows of successes at these times, in milliseconds, and how many each shows. */
  function shownAt(times: readonly number[]): number[] {
    vi.useFakeTimers({ toFake: ['performance', 'Date'], now: Date.UTC(2026, 10, 23) });
    const workflowIn = nameRecordWorkflows(uuidv7());
    const shown = new Map<string, number>();
    let nowMs = 0;
    for (const atMs of times) {
      vi.advanceTimersByTime(atMs - nowMs);
      nowMs = atMs;
      const id = workflowIn('live');
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
