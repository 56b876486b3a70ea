import { env } from 'node:process';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { startHarness } from '../../support/harness.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { COMMAND_NAMES, fundsCommand } from './funds-commands.ts';
import { FundsPlay, type Step } from './funds-play.ts';
import { verifyFunds } from './verification/verify-funds.ts';

const harness = await startHarness({ SERVICES: 'funds' });
afterAll(() => harness.close());

const SEQUENCES = 8;
/** So many more are tried at a time while a command has not succeeded. */
const MORE_SEQUENCES = 2;
const MAX_COMMANDS = 60;
/** Names the counterexample when there is no time to shrink it further. */
const LIMIT = { interruptAfterTimeLimit: 300_000, markInterruptAsFailure: true };

const batch = fc.array(fc.record({ account: fc.nat(2), command: fundsCommand }), {
  minLength: 1,
  maxLength: 3,
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: batch.map((commands) => ({ batch: commands })) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 25 }).map((days) => ({ days })) },
);
const steps = fc.array(step, { minLength: 20, maxLength: 45, size: 'max' }).map(upToMaxCommands);

function upToMaxCommands(all: readonly Step[]): Step[] {
  let left = MAX_COMMANDS;
  return all.flatMap((next): Step[] => {
    if ('days' in next) return [next];
    const batch = next.batch.slice(0, left);
    left -= batch.length;
    return batch.length > 0 ? [{ batch }] : [];
  });
}

test('after any sequential or concurrent commands, the database matches the model: installments, list, calendar, debts and balance', async () => {
  const outcomes = new Set<string>();
  const property = fc.asyncProperty(steps, async (all) => {
    const play = new FundsPlay(harness);
    await play.run(all);
    for (const outcome of play.outcomes) outcomes.add(outcome);
  });
  await fc.assert(property, { numRuns: propertyRuns(SEQUENCES), ...LIMIT });
  const missing = () => COMMAND_NAMES.filter((name) => !outcomes.has(`${name} OK`));
  // Fewer sequences do not always reach every command.
  if (!env.FC_SEED && !env.FC_RUNS) {
    for (let tries = 0; tries < 20 && missing().length > 0; tries += 1) {
      await fc.assert(property, { numRuns: MORE_SEQUENCES });
    }
    expect(missing()).toEqual([]);
  }
  await verifyFunds(harness);
}, 600_000);
