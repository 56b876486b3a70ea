import { readFileSync } from 'node:fs';

/** The resident memory of a process, shared pages of its program and libraries included. Linux only: NaN elsewhere. */
export function residentMegabytes(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kilobytes) * 1_024) / 1e6;
}
