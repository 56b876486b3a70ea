import { afterAll, expect, it } from 'vitest';
import { LaneOwners } from './lane-owners.ts';

/** Until a signal takes effect. */
const SIGNAL_MS = 100;

const owners = await LaneOwners.start();
afterAll(() => owners[Symbol.asyncDispose]());

it('a process that sends webhooks takes over from one that is killed within five seconds, and repeats only attempts in flight', async () => {
  const publishing = owners.publish();
  await publishing.atLeast(20);
  const killedAt = Date.now();
  await owners.first.kill();
  await publishing.atLeast(publishing.count + 20);
  const { slowestMs, repeated } = await owners.delivered(await publishing.stop(), killedAt);
  expect(slowestMs).toBeLessThan(5_000);
  for (const { firstAt } of repeated) expect(firstAt).toBeLessThanOrEqual(killedAt + SIGNAL_MS);
});
