import { setTimeout as delay } from 'node:timers/promises';
import { textTable } from '../../local/text-table.ts';
import { cpuSeconds } from './process-cpu.ts';
import { residentMegabytes } from './process-memory.ts';
import { newDataFolder, startSystem } from './started-system.ts';

const REST_S = 30;
const MOST_MB = 300;
const MOST_CPU_PERCENT = 1;
const HEADINGS = ['', 'measured', 'at most', ''];

/**
 * The process of `npm start` at rest, without demo data, PostgreSQL and Temporal's server: its CPU time in the second half
 * minute after a warm start, and its memory at the end of it. Linux only.
 */
export async function benchRest(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const folder = await newDataFolder(stack);
  {
    // Creates the database and builds what is missing.
    await using first = new AsyncDisposableStack();
    await startSystem({}, first, folder);
  }
  const startedAt = performance.now();
  const { pid } = await startSystem({}, stack, folder);
  const startMs = performance.now() - startedAt;
  await delay(REST_S * 1_000);
  const usedBefore = cpuSeconds(pid).node!;
  await delay(REST_S * 1_000);
  const cpuPercent = ((cpuSeconds(pid).node! - usedBefore) / REST_S) * 100;
  console.log(
    textTable([
      HEADINGS,
      rowOf('memory, MB', residentMegabytes(pid), MOST_MB),
      rowOf('CPU, % of a core', cpuPercent, MOST_CPU_PERCENT),
      ['warm start until it delivers, s', (startMs / 1_000).toFixed(1), '', ''],
    ]),
  );
}

const rowOf = (name: string, measured: number, most: number): string[] => [
  name,
  measured.toFixed(measured < 10 ? 1 : 0),
  String(most),
  measured > most ? 'ABOVE' : '',
];
