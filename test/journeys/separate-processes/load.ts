import { setTimeout as delay } from 'node:timers/promises';
import { ConnectError } from '@connectrpc/connect';
import { call } from '../../gateway/http-call.ts';
import type { Backend, ReadyBackends } from './balancer.ts';

/** A request with no response, or a wrong one. */
interface Failure {
  readonly what: string;
  /** Undefined where a load balancer chose the process. */
  readonly backend?: Backend | undefined;
  readonly startedAt: number;
}

const READERS = 3;
/** Between the reads of a reader: without a pause, they would take the processor from the processes that start. */
const READ_INTERVAL_MS = 50;
/** Each event is delivered twice, by a workflow: more would slow down what is tested. */
const PUBLISH_INTERVAL_MS = 200;
/** How much longer the pauses are while processes start, which need the processor. */
const SPARSELY = 5;
/** A reader without a gateway waits, so that other work of this process can continue. */
const AFTER_FAILURE_MS = 50;

/** A path of the public API, or of the dashboard, and how its reader is known. */
export interface Read {
  readonly path: string;
  readonly port: 'port' | 'dashboardPort';
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads of the public API with an API key. */
export const apiReads = (key: string, ...paths: readonly string[]): Read[] =>
  paths.map((path) => ({ path, port: 'port', headers: { authorization: `Bearer ${key}` } }));

interface LoadOptions {
  readonly gateways: ReadyBackends;
  /** The paths that are read in turn. */
  readonly reads: readonly Read[];
  /** Publishes an event; returns its id. */
  readonly publish: () => Promise<string>;
}

/** Clients that read through all gateways and publish events all the time, without repeating anything. */
export class Load {
  readonly failures: Failure[] = [];
  /** When each event was committed, by id. */
  readonly published = new Map<string, number>();
  requests = 0;
  #pauses = 1;
  readonly #options: LoadOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<unknown>;

  constructor(options: LoadOptions) {
    this.#options = options;
    const readers = Array.from({ length: READERS }, () => this.#untilStopped(() => this.#read()));
    this.#running = Promise.all([...readers, this.#untilStopped(() => this.#publish())]);
  }

  /** Resolves after this many more events. */
  async moreEvents(count: number): Promise<void> {
    const until = this.published.size + count;
    while (this.published.size < until) await delay(20);
  }

  /** Asks for less while this goes on. */
  async sparsely(work: () => Promise<unknown>): Promise<void> {
    this.#pauses = SPARSELY;
    await work().finally(() => {
      this.#pauses = 1;
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #untilStopped(step: () => Promise<void>): Promise<void> {
    while (!this.#stopping.signal.aborted) await step();
  }

  async #read(): Promise<void> {
    const { gateways, reads } = this.#options;
    const { path, port, headers } = reads[this.requests % reads.length]!;
    const startedAt = Date.now();
    let backend: Backend | undefined;
    this.requests += 1;
    try {
      backend = gateways.next();
      const { status, text } = await call(backend[port], path, { headers });
      if (status !== 200) this.failures.push({ what: `${status} ${text}`, backend, startedAt });
      await delay(READ_INTERVAL_MS * this.#pauses);
    } catch (error) {
      // Nothing was sent: a load balancer tries the next one.
      if (backend && (error as NodeJS.ErrnoException).code === 'ECONNREFUSED')
        return gateways.refused(backend);
      this.failures.push({ what: String(error), backend, startedAt });
      await delay(AFTER_FAILURE_MS);
    }
  }

  async #publish(): Promise<void> {
    const startedAt = Date.now();
    try {
      this.published.set(await this.#options.publish(), Date.now());
    } catch (error) {
      this.failures.push({ what: String(ConnectError.from(error)), startedAt });
    }
    await delay(PUBLISH_INTERVAL_MS * this.#pauses);
  }
}
