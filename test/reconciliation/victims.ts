import { execFileSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { EmbeddedPostgres } from '../../local/postgres/postgres-server.ts';
import type { TestTemporal } from '../support/temporal.ts';

/** A process of the system that can be the target of faults. */
export interface Victim {
  kill(): Promise<void>;
  /** Resolves when it serves again. */
  start(): Promise<void>;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
}

/** Its supervisor starts it again by itself. */
export function postgresVictim(postgres: EmbeddedPostgres): Victim {
  return {
    async kill() {
      signalTree(postgres.pid, 'SIGKILL');
    },
    async start() {
      for (;;) {
        const client = new pg.Client({ connectionString: postgres.url, connectionTimeoutMillis: 2_000 });
        client.on('error', () => undefined);
        const isUp = await client.connect().then(
          () => true,
          () => false,
        );
        await client.end().catch(() => undefined);
        if (isUp) return;
        await delay(50);
      }
    },
    signal: (signal) => signalTree(postgres.pid, signal),
  };
}

export function temporalVictim(temporal: TestTemporal): Victim {
  return {
    kill: () => temporal.kill(),
    start: () => temporal.start(),
    signal: (signal) => signalTree(temporal.pid, signal),
  };
}

/** The process first, so that it does not start children anew, and its children: every backend of PostgreSQL. */
function signalTree(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  const children = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, parent]) => parent === pid)
    .map(([child]) => child!);
  for (const each of [pid, ...children]) {
    try {
      process.kill(each, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
