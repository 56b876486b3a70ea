import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { median } from '../support/quantile.ts';
import { LaneOwners } from './lane-owners.ts';

/** Beside other tests; takeover.test.ts holds the promised five seconds. */
const TAKEN_OVER_MS = 8_000;
const PAUSE_MS = 60_000;
/** No lane of a paused process is taken over before. */
const LEASED_MS = 3_000;
/** Of two processes on a busy machine. */
const START_MS = 300_000;
/** Until a signal takes effect. */
const SIGNAL_MS = 100;

describe('two processes that send webhooks', { timeout: 180_000 }, () => {
  let owners: LaneOwners;
  beforeAll(async () => {
    owners = await LaneOwners.start();
  }, START_MS);
  afterAll(() => owners?.[Symbol.asyncDispose]());

  it('continue after one was paused past its lease, delay no lane of the other, and repeat only attempts in flight', async () => {
    const publishing = owners.publish();
    await publishing.atLeast(20);
    const ownersBefore = await owners.ofEndpoints();
    owners.first.child.kill('SIGSTOP');
    const pausedAt = Date.now();
    await delay(PAUSE_MS);
    const [remaining, ...others] = new Set(await owners.ofEndpoints());
    expect(others).toEqual([]);
    owners.first.child.kill('SIGCONT');
    await publishing.atLeast(publishing.count + 20);
    await owners.areSharing();
    const published = await publishing.stop();
    const { slowestMs, repeated } = await owners.delivered(published, pausedAt);
    expect(slowestMs).toBeLessThan(TAKEN_OVER_MS);
    const untilTakeover = published.filter(({ atMs }) => atMs >= pausedAt && atMs < pausedAt + LEASED_MS);
    const unaffected = owners.latencies(untilTakeover, (endpoint) => ownersBefore[endpoint] === remaining);
    expect(median(unaffected)).toBeLessThan(1_000);
    for (const { firstAt, secondAt } of repeated) {
      expect(firstAt).toBeLessThanOrEqual(pausedAt + SIGNAL_MS);
      // The other process sent it when it took over; the paused one repeats nothing.
      expect(secondAt).toBeLessThan(pausedAt + PAUSE_MS);
    }
  });

  it('lose nothing and repeat nothing when one is stopped', async () => {
    const publishing = owners.publish();
    await publishing.atLeast(20);
    owners.first.child.kill('SIGTERM');
    expect(await owners.first.exited).toMatchObject({ exitCode: 0 });
    // Its lanes wait for no lease, which would still be valid.
    expect(await owners.lanesByOwner()).toHaveLength(1);
    await publishing.atLeast(publishing.count + 10);
    expect((await owners.delivered(await publishing.stop())).repeated).toEqual([]);
  });

  it('send an event again when both die before its receiver responds', async () => {
    owners.startFirst();
    await owners.areSharing();
    owners.onEvent = () => {
      for (const owner of [owners.first, owners.second]) owner.child.kill('SIGKILL');
    };
    const publishing = owners.publish();
    await publishing.atLeast(1);
    expect(await owners.second.exited).toMatchObject({ exitCode: null });
    owners.onEvent = undefined;
    const published = await publishing.stop();
    owners.startFirst();
    await vi.waitFor(
      async () => expect((await owners.delivered(published)).repeated.length).toBeGreaterThan(0),
      { timeout: 60_000, interval: 200 },
    );
  });
});
