import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { BACKGROUND_NICENESS } from '../../services/platform/process/niceness.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/temporal/search-attributes.ts';
import {
  readTemporalConnection,
  type TemporalSecurity,
} from '../../workflows/temporal/temporal-connection.ts';
import type { DataFolder } from '../data-folder.ts';
import { assertPortsFree } from '../ports.ts';
import { SupervisedProcess } from '../processes/supervised-process.ts';
import { type ChildCommand, minimalEnvironment } from '../processes/tracked-process.ts';
import { assertNamespaceReachable, setRetention } from './temporal-namespace.ts';
import { findTemporalProgram, type SlowStep } from './temporal-program.ts';

const TYPE_NAMES = { KEYWORD: 'Keyword', KEYWORD_LIST: 'KeywordList' } as const;
const SEARCHING = 'looking for a Temporal server';
const POLL_MS = 100;
const SLOW_START_MS = 15_000;
const EXTERNAL_CHECK_MS = 5_000;
const SEARCH_RETRY_MS = 120_000;
/** How the server names a database file that SQLite cannot read. */
const UNREADABLE = /file is not a database|database disk image is malformed/;

/** The state of the Temporal server, with one line for people: what is happening, or what to do. */
export interface TemporalStatus {
  readonly state: 'searching' | 'building' | 'starting' | 'up' | 'unavailable';
  readonly detail: string;
  /** When this state and detail began. */
  readonly since: Date;
  /** How far a build is, as one line. */
  readonly progress?: string | undefined;
}

export interface TemporalOptions {
  readonly folder: DataFolder;
  readonly namespace: string;
  /** TEMPORAL_ADDRESS: an external server. Absent: start one on these ports. */
  readonly address?: string | undefined;
  /** Of an external server. Default: a connection without TLS. */
  readonly security?: TemporalSecurity;
  readonly port: number;
  /** Absent: the server runs without a UI. */
  readonly uiPort?: number | undefined;
  /** PATH, the user's cache folder, and what Go and the download need. Default: process.env. */
  readonly environment?: NodeJS.ProcessEnv;
}

/**
 * Finds or builds a Temporal server in the background, starts it and keeps it running. Emits each change of state or
 * detail.
 */
export class TemporalServer extends EventEmitter<{ status: [TemporalStatus] }> {
  /** `host:port`, known before the server is up. */
  readonly address: string;
  readonly uiUrl: string | undefined;
  readonly #options: TemporalOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #supervised: SupervisedProcess | undefined;
  #status: Omit<TemporalStatus, 'progress'> = { state: 'searching', detail: SEARCHING, since: new Date() };
  #progress: SlowStep['progress'];

  constructor(options: TemporalOptions) {
    super();
    this.#options = options;
    const isEmbedded = options.address === undefined;
    this.address = options.address ?? `127.0.0.1:${options.port}`;
    this.uiUrl =
      isEmbedded && options.uiPort !== undefined ? `http://127.0.0.1:${options.uiPort}` : undefined;
    this.#running = (isEmbedded ? this.#runEmbedded() : this.#watchExternal()).catch((error) => {
      if (!this.#stopping.signal.aborted) this.#become('unavailable', (error as Error).message);
    });
  }

  get status(): TemporalStatus {
    return { ...this.#status, progress: this.#progress?.() };
  }

  /** The pid of the current server process; undefined for an external server. */
  get pid(): number | undefined {
    return this.#supervised?.pid;
  }

  /** Resolves once Temporal is up; rejects when it is stopped or the signal aborts first. */
  async whenUp(signal?: AbortSignal): Promise<void> {
    const aborted = AbortSignal.any(signal ? [this.#stopping.signal, signal] : [this.#stopping.signal]);
    while (this.#status.state !== 'up') await once(this, 'status', { signal: aborted });
  }

  /** Stops the search, the build and the embedded server; resolves when they have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#supervised?.stop();
    await this.#running;
  }

  async #runEmbedded(): Promise<void> {
    const { folder } = this.#options;
    const program = await this.#findProgram();
    this.#stopping.signal.throwIfAborted();
    this.#become('starting', 'starting the Temporal server');
    this.#supervised = new SupervisedProcess({
      folder,
      name: 'temporal',
      label: 'Temporal',
      command: serverCommand(program, this.#options),
      prepare: () => assertPortsFree(embeddedPorts(this.#options)),
      ready: (signal) => this.#waitUntilServing(signal),
      onUp: () => this.#become('up', `Temporal serves on ${this.address}`),
      onDown: (detail) => this.#become('starting', `${detail}; ${nextStep(detail, stateFile(folder))}`),
    });
    this.#supervised.startInBackground();
  }

  async #findProgram(): Promise<string> {
    const { folder, environment = process.env } = this.#options;
    const { signal } = this.#stopping;
    const onSlowStep = ({ detail, progress }: SlowStep) => this.#become('building', detail, progress);
    for (;;) {
      try {
        return await findTemporalProgram({ folder, environment, onSlowStep, signal });
      } catch (error) {
        signal.throwIfAborted();
        this.#become('unavailable', (error as Error).message);
        await delay(SEARCH_RETRY_MS, undefined, { signal });
        this.#become('searching', SEARCHING);
      }
    }
  }

  async #waitUntilServing(died: AbortSignal): Promise<void> {
    const { namespace } = this.#options;
    const startedAt = Date.now();
    while (!died.aborted) {
      try {
        return await setRetention(this.address, namespace);
      } catch (error) {
        const detail = `the Temporal server runs but does not answer yet: ${(error as Error).message}`;
        if (Date.now() - startedAt > SLOW_START_MS) this.#become('starting', detail);
        await delay(POLL_MS);
      }
    }
  }

  async #watchExternal(): Promise<void> {
    const { namespace, security } = this.#options;
    const { signal } = this.#stopping;
    this.#become('starting', `waiting for the Temporal server at ${this.address} (TEMPORAL_ADDRESS)`);
    for (;;) {
      try {
        await assertNamespaceReachable(await readTemporalConnection(this.address, security), namespace);
        this.#become('up', `Temporal serves on ${this.address}`);
      } catch (error) {
        const { message } = error as Error;
        this.#become('unavailable', `TEMPORAL_ADDRESS ${this.address} does not answer: ${message}`);
      }
      await delay(EXTERNAL_CHECK_MS, undefined, { signal });
    }
  }

  #become(state: TemporalStatus['state'], detail: string, progress?: SlowStep['progress']): void {
    this.#progress = progress;
    if (this.#status.state === state && this.#status.detail === detail) return;
    this.#status = { state, detail, since: new Date() };
    this.emit('status', this.status);
  }
}

const stateFile = (folder: DataFolder) => folder.file('temporal.db');

/** What happens next, or what to do about a server that cannot start. */
function nextStep(detail: string, file: string): string {
  if (!UNREADABLE.test(detail)) return 'restarting';
  return `delete ${file}: workflows that have not ended are started again`;
}

/** The ports that an embedded server listens on, by setting. */
export function embeddedPorts({ port, uiPort }: Pick<TemporalOptions, 'port' | 'uiPort'>) {
  const server = { setting: 'TEMPORAL_PORT', port };
  return uiPort === undefined ? [server] : [server, { setting: 'TEMPORAL_UI_PORT', port: uiPort }];
}

function serverCommand(program: string, options: TemporalOptions): ChildCommand {
  const { folder, namespace, port, uiPort } = options;
  return {
    file: program,
    args: [
      'server',
      'start-dev',
      '--ip=127.0.0.1',
      `--port=${port}`,
      `--namespace=${namespace}`,
      uiPort === undefined ? '--headless' : `--ui-port=${uiPort}`,
      `--db-filename=${stateFile(folder)}`,
      // Without these two, a server with a database file is several times slower.
      '--sqlite-pragma=journal_mode=wal',
      '--sqlite-pragma=synchronous=full',
      ...SEARCH_ATTRIBUTES.map(({ name, type }) => `--search-attribute=${name}=${TYPE_NAMES[type]}`),
    ],
    cwd: folder.path,
    env: minimalEnvironment(),
    niceness: BACKGROUND_NICENESS,
  };
}
