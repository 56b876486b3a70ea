import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { DataFolder } from '../data-folder.ts';
import type { LocalReadiness } from '../temporal/temporal-readiness.ts';
import { DEMO_FILE, type DemoFile } from './demo-file.ts';

const POLL_MS = 500;
const REQUEST_TIMEOUT_MS = 5_000;
const CONNECT_LIMIT_MS = 180_000;
const RESTART_LIMIT_MS = 30_000;

export interface SystemWaitOptions {
  readonly dataDir: string;
  /** Receives one line per change of what is waited for. */
  readonly print: (line: string) => void;
  /** Receives the progress of the Temporal server's build on every poll. */
  readonly printProgress: (line: string) => void;
  /** How long `npm start` may be down once it has been seen running. Default: 30 s. */
  readonly restartLimitMs?: number;
}

interface Waiting {
  readonly state: 'stopped' | 'starting' | 'waiting-for-temporal' | 'connecting' | 'unavailable';
  /** What is waited for, or why waiting does not help. */
  readonly line: string;
  /** The error when the wait for this state times out. Default: the line. */
  readonly timeoutLine?: string;
  readonly progress?: string;
}

type Observation = Waiting | { readonly state: 'delivering'; readonly demo: DemoFile };

/**
 * Waits until `npm start` delivers webhooks: as long as it starts or builds the Temporal server, and through a restart.
 * Returns its demo.json. Rejects with one line when `npm start` is not running, when it found no Temporal server, and
 * when its worker does not connect.
 */
export async function waitForSystem(options: SystemWaitOptions): Promise<DemoFile> {
  const { dataDir, print, printProgress, restartLimitMs = RESTART_LIMIT_MS } = options;
  let last: Waiting | undefined;
  let since = Date.now();
  let hasRun = false;
  for (;;) {
    const observed = await observe(dataDir);
    if (observed.state === 'delivering') return observed.demo;
    if (observed.state !== 'stopped') hasRun = true;
    if (observed.state !== last?.state) since = Date.now();
    if (Date.now() - since >= limitMs(observed, hasRun ? restartLimitMs : 0)) {
      throw new Error(observed.timeoutLine ?? observed.line);
    }
    if (observed.line !== last?.line) print(waitingLine(observed, restartLimitMs));
    if (observed.progress !== undefined) printProgress(observed.progress);
    last = observed;
    await delay(POLL_MS);
  }
}

function waitingLine({ state, line }: Waiting, restartLimitMs: number): string {
  if (state !== 'stopped') return line;
  return `npm start has stopped: start it again within ${restartLimitMs / 1_000} s to continue`;
}

function limitMs({ state }: Waiting, restartLimitMs: number): number {
  switch (state) {
    case 'stopped':
      return restartLimitMs;
    case 'unavailable':
      return 0;
    case 'connecting':
      return CONNECT_LIMIT_MS;
    case 'starting':
    case 'waiting-for-temporal':
      return Number.POSITIVE_INFINITY;
    default:
      throw new Error(`unknown state ${state satisfies never}`);
  }
}

/** What `npm start` does now, by its lock on the data folder and its /readyz. */
async function observe(dataDir: string): Promise<Observation> {
  if (!DataFolder.isInUse(dataDir)) {
    const line = `npm start is not running on DATA_DIR ${resolve(dataDir)}: run it in another terminal`;
    return { state: 'stopped', line };
  }
  const demo = await readDemoFile(dataDir);
  if (!demo) return { state: 'starting', line: 'npm start is starting and writes its demo data' };
  const readiness = demo.operations && (await fetchReadiness(demo.operations.baseUrl));
  if (!readiness) return { state: 'starting', line: 'npm start is starting' };
  const { temporal, temporalServer } = readiness;
  if (temporal === 'up') return { state: 'delivering', demo };
  if (!temporalServer) return { state: 'starting', line: 'npm start is waiting for its database' };
  return observeTemporal(temporalServer, dataDir);
}

function observeTemporal(
  { state, detail, progress, since }: LocalReadiness['temporalServer'],
  dataDir: string,
): Waiting {
  if (state === 'unavailable') return { state, line: `npm start cannot deliver webhooks: ${detail}` };
  if (state === 'up') {
    const timeoutLine = `the worker did not connect to Temporal: see ${resolve(dataDir, 'logs/payments.log')}`;
    return { state: 'connecting', line: 'waiting for the worker to connect to Temporal', timeoutLine };
  }
  const line = `npm start is not ready to deliver webhooks: ${detail}`;
  if (state !== 'building') return { state: 'waiting-for-temporal', line };
  const elapsed = formatElapsed(Date.now() - Date.parse(since));
  return { state: 'waiting-for-temporal', line, progress: progress ? `${elapsed}  ${progress}` : elapsed };
}

/** Undefined before the first start has written it. */
async function readDemoFile(dataDir: string): Promise<DemoFile | undefined> {
  try {
    return JSON.parse(await readFile(join(dataDir, DEMO_FILE), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Undefined when no `npm start` answers at this address. */
async function fetchReadiness(baseUrl: string): Promise<Partial<LocalReadiness> | undefined> {
  try {
    const timeouts = { headersTimeout: REQUEST_TIMEOUT_MS, bodyTimeout: REQUEST_TIMEOUT_MS };
    const { body } = await request(`${baseUrl}/readyz`, timeouts);
    return (await body.json()) as Partial<LocalReadiness>;
  } catch {
    return undefined;
  }
}

function formatElapsed(ms: number): string {
  const seconds = Math.max(Math.round(ms / 1_000), 0);
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  return minutes === 0 ? `${rest} s` : `${minutes} min ${String(rest).padStart(2, '0')} s`;
}
