import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { SEARCH_ATTRIBUTES } from '../../workflows/temporal/search-attributes.ts';
import type { DataFolder } from '../data-folder.ts';
import { assertPortsFree } from '../ports.ts';
import { SupervisedProcess } from '../processes/supervised-process.ts';
import { type ChildCommand, plainEnvironment } from '../processes/tracked-process.ts';
import { assertAnswers, setRetention } from './temporal-namespace.ts';
import { findTemporalProgram } from './temporal-program.ts';

const TYPE_NAMES = { KEYWORD: 'Keyword', KEYWORD_LIST: 'KeywordList' } as const;
const POLL_MS = 100;
const SLOW_START_MS = 15_000;
const WATCH_MS = 5_000;
const SEARCH_AGAIN_MS = 120_000;

/** Whether Temporal is there; `detail` is one line for people: what is waited for, and what helps. */
export interface TemporalStatus {
  readonly state: 'searching' | 'building' | 'starting' | 'up' | 'unavailable';
  readonly detail: string;
}

export interface TemporalOptions {
  readonly folder: DataFolder;
  readonly namespace: string;
  /** TEMPORAL_ADDRESS: a server that others run. Absent: one of our own, on the ports. */
  readonly address?: string | undefined;
  readonly port: number;
  /** Absent: no UI. */
  readonly uiPort?: number | undefined;
  /** Where PATH, the cache folder and Go are looked up. Default: process.env. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** A Temporal server, found, started and kept running in the background. Emits each new status. */
export class TemporalServer extends EventEmitter<{ status: [TemporalStatus] }> {
  /** `host:port`, known before the server is up. */
  readonly address: string;
  readonly uiUrl: string | undefined;
  readonly #options: TemporalOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #supervised: SupervisedProcess | undefined;
  #status: TemporalStatus = { state: 'searching', detail: 'looking for a Temporal server' };

  constructor(options: TemporalOptions) {
    super();
    this.#options = options;
    const isOwn = options.address === undefined;
    this.address = options.address ?? `127.0.0.1:${options.port}`;
    this.uiUrl = isOwn && options.uiPort !== undefined ? `http://127.0.0.1:${options.uiPort}` : undefined;
    this.#running = (isOwn ? this.#runOwn() : this.#watchOther()).catch((error) => {
      if (!this.#stopping.signal.aborted) this.#become('unavailable', (error as Error).message);
    });
  }

  get status(): TemporalStatus {
    return this.#status;
  }

  /** Of our own server that runs now. */
  get pid(): number | undefined {
    return this.#supervised?.pid;
  }

  /** Resolves once Temporal is up; rejects when it is stopped or the signal aborts before. */
  async whenUp(signal?: AbortSignal): Promise<void> {
    const given = AbortSignal.any([this.#stopping.signal, ...(signal ? [signal] : [])]);
    while (this.#status.state !== 'up') await once(this, 'status', { signal: given });
  }

  /** Stops looking, building, and a server of our own; resolves when that has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#supervised?.stop();
    await this.#running;
  }

  async #runOwn(): Promise<void> {
    const { folder } = this.#options;
    const program = await this.#findProgram();
    this.#stopping.signal.throwIfAborted();
    this.#become('starting', 'starting the Temporal server');
    this.#supervised = new SupervisedProcess({
      folder,
      name: 'temporal',
      label: 'Temporal',
      command: serverCommand(program, this.#options),
      prepare: () => assertPortsFree(ownPorts(this.#options)),
      ready: (signal) => this.#whenServing(signal),
      onUp: () => this.#become('up', `Temporal serves on ${this.address}`),
      onDown: (detail) => this.#become('starting', `${detail}; starting it again`),
    });
    this.#supervised.startInBackground();
  }

  async #findProgram(): Promise<string> {
    const { folder, environment = process.env } = this.#options;
    const { signal } = this.#stopping;
    const onSlowStep = (detail: string) => this.#become('building', detail);
    for (;;) {
      try {
        return await findTemporalProgram({ folder, environment, onSlowStep, signal });
      } catch (error) {
        signal.throwIfAborted();
        this.#become('unavailable', (error as Error).message);
        await delay(SEARCH_AGAIN_MS, undefined, { signal });
        this.#become('searching', 'looking for a Temporal server');
      }
    }
  }

  async #whenServing(died: AbortSignal): Promise<void> {
    const { namespace } = this.#options;
    const since = Date.now();
    while (!died.aborted) {
      try {
        return await setRetention(this.address, namespace);
      } catch (error) {
        const detail = `Temporal runs but does not serve yet: ${(error as Error).message}`;
        if (Date.now() - since > SLOW_START_MS) this.#become('starting', detail);
        await delay(POLL_MS);
      }
    }
  }

  async #watchOther(): Promise<void> {
    const { namespace } = this.#options;
    const { signal } = this.#stopping;
    this.#become('starting', `waiting for the Temporal server at ${this.address} (TEMPORAL_ADDRESS)`);
    for (;;) {
      try {
        await assertAnswers(this.address, namespace);
        this.#become('up', `Temporal serves on ${this.address}`);
      } catch (error) {
        const { message } = error as Error;
        this.#become('unavailable', `TEMPORAL_ADDRESS ${this.address} does not answer: ${message}`);
      }
      await delay(WATCH_MS, undefined, { signal });
    }
  }

  #become(state: TemporalStatus['state'], detail: string): void {
    if (this.#status.state === state && this.#status.detail === detail) return;
    this.#status = { state, detail };
    this.emit('status', this.#status);
  }
}

/** The ports that a server of our own takes, for a check before anything is started. */
export function ownPorts({ port, uiPort }: Pick<TemporalOptions, 'port' | 'uiPort'>) {
  return [
    { setting: 'TEMPORAL_PORT', port },
    ...(uiPort === undefined ? [] : [{ setting: 'TEMPORAL_UI_PORT', port: uiPort }]),
  ];
}

function serverCommand(program: string, options: TemporalOptions): ChildCommand {
  const { folder, namespace, port, uiPort } = options;
  return {
    file: program,
    args: [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--namespace', namespace],
      ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]),
      ...['--db-filename', folder.file('temporal.db')],
      // Without these two a file-backed server is several times slower.
      ...['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=full'],
      ...SEARCH_ATTRIBUTES.flatMap(({ name, type }) => ['--search-attribute', `${name}=${TYPE_NAMES[type]}`]),
    ],
    cwd: folder.path,
    env: plainEnvironment(),
  };
}
