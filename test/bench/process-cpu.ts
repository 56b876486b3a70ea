import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks per second of /proc, fixed on Linux. */
const TICKS = 100;

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  /** Its own seconds, and those of children that it has waited for. */
  readonly seconds: number;
}

/**
 * CPU seconds that processes and their descendants have used so far, by the name of the process; what ended is counted
 * for the one that waited for it. Linux only: elsewhere the record is empty.
 */
export function cpuSeconds(...roots: readonly number[]): Record<string, number> {
  if (process.platform !== 'linux') return {};
  const children = Map.groupBy(allProcesses(), ({ parent }) => parent);
  const sums: Record<string, number> = {};
  const add = ({ pid, name, seconds }: ProcessStat) => {
    sums[name] = (sums[name] ?? 0) + seconds;
    for (const child of children.get(pid) ?? []) add(child);
  };
  for (const root of roots) {
    const own = statOf(root);
    if (own) add(own);
  }
  return sums;
}

/** The same of all processes together. */
export const totalCpuSeconds = (...roots: readonly number[]): number =>
  Object.values(cpuSeconds(...roots)).reduce((sum, seconds) => sum + seconds, 0);

function allProcesses(): ProcessStat[] {
  return readdirSync('/proc').flatMap((entry) => (/^\d+$/.test(entry) ? (statOf(Number(entry)) ?? []) : []));
}

function statOf(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name stands in brackets and may hold some.
    const end = text.lastIndexOf(')');
    const fields = text.slice(end + 2).split(' ');
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
    const name = text.slice(text.indexOf('(') + 1, end);
    return { pid, parent: Number(fields[1]), name: KNOWN[name] ?? name, seconds: ticks / TICKS };
  } catch {
    return undefined;
  }
}

/** A process has the name of its main thread. */
const KNOWN: Readonly<Record<string, string>> = { MainThread: 'node' };
