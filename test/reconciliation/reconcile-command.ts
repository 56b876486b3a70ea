import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { runReconciliation } from './reconciliation-run.ts';
import { faultsOf, tableOf } from './reconciliation-table.ts';

/** `npm run reconcile -- --seed N --minutes 10 --rate 60`: the same seed injects the same faults. */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    minutes: { type: 'string', default: '10' },
    rate: { type: 'string', default: '60' },
  },
});
const [seed, minutes, rate] = [Number(values.seed), Number(values.minutes), Number(values.rate)];
if (!Number.isInteger(seed) || !(minutes > 0) || !(rate > 0)) {
  console.error('--seed takes a whole number, --minutes and --rate numbers above 0');
  process.exit(2);
}
const stopping = new AbortController();
process.once('SIGINT', () => stopping.abort()).once('SIGTERM', () => stopping.abort());
const result = await runReconciliation({
  seed,
  durationMs: minutes * 60_000,
  eventsPerSecond: rate,
  say: (line) => console.log(line),
  signal: stopping.signal,
});
console.log(`\n${tableOf(result)}\n`);
const wrong = faultsOf(result);
for (const line of wrong) console.error(line);
console.log(wrong.length === 0 ? `seed ${seed}: everything reconciles` : `seed ${seed}: DOES NOT RECONCILE`);
process.exit(wrong.length === 0 ? 0 : 1);
