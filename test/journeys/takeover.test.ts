import { afterAll, expect, it } from 'vitest';
import { median } from '../support/quantile.ts';
import { LaneOwners } from './lane-owners.ts';

/** Until a signal takes effect. */
const SIGNAL_MS = 100;
/** No lane of a killed process is taken over before. */
const LEASED_MS = 3_000;

const owners = await LaneOwners.start();
afterAll(() => owners[Symbol.asyncDispose]());

it('a process that sends webhooks takes over from one that is killed within five seconds, delays none of its own lanes, and repeats only attempts in flight', async () => {
  const publishing = owners.publish();
  await publishing.atLeast(20);
  const ownersBefore = await owners.ofEndpoints();
  const killedAt = Date.now();
  await owners.first.kill();
  await publishing.atLeast(publishing.count + 20);
  const published = await publishing.stop();
  const { slowestMs, repeatedAt } = await owners.delivered(published, killedAt);
  expect(slowestMs).toBeLessThan(5_000);
  for (const firstAt of repeatedAt) expect(firstAt).toBeLessThanOrEqual(killedAt + SIGNAL_MS);
  const [remaining, ...others] = new Set(await owners.ofEndpoints());
  expect(others).toEqual([]);
  const untilTakeover = published.filter(({ atMs }) => atMs >= killedAt && atMs < killedAt + LEASED_MS);
  const unaffected = owners.latencies(untilTakeover, (endpoint) => ownersBefore[endpoint] === remaining);
  expect(median(unaffected)).toBeLessThan(1_000);
});
