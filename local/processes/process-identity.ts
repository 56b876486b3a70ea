import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Distinguishes a running process from a later one with the same pid. */
export interface ProcessIdentity {
  readonly startedAt: string;
  readonly commandLine: string;
}

/** Reads /proc on Linux and asks `ps` on macOS. Undefined when no process has this pid, or only a zombie. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  return process.platform === 'linux' ? readProc(pid) : askPs(pid);
}

function readProc(pid: number): ProcessIdentity | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, the name in parentheses, may itself contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return { startedAt: `${boot}/${fields[19]}`, commandLine };
  } catch {
    return undefined;
  }
}

function askPs(pid: number): ProcessIdentity | undefined {
  try {
    const text = execFileSync('ps', ['-ww', '-o', 'stat=,lstart=,command=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    // Ss   Thu Nov 21 07:16:00 2026 /path/to/program …
    const [state, ...words] = text.trim().split(/\s+/);
    if (state === undefined || state.startsWith('Z')) return undefined;
    return { startedAt: words.slice(0, 5).join(' '), commandLine: words.slice(5).join(' ') };
  } catch {
    return undefined;
  }
}
