import { setTimeout as delay } from 'node:timers/promises';
import type { DataFolder } from '../data-folder.ts';
import { StartError } from '../start-error.ts';
import { type ChildCommand, TrackedProcess } from './tracked-process.ts';

const FIRST_BACKOFF_MS = 200;
const MAX_BACKOFF_MS = 15_000;
/** A process that stayed up this long restarts with the first backoff. */
const STABLE_MS = 60_000;

/** A process to keep running, and how to tell that it is ready. */
export interface SupervisedOptions {
  readonly folder: DataFolder;
  /** Names its pid and log files. */
  readonly name: string;
  /** Names it in messages. */
  readonly label: string;
  readonly command: ChildCommand;
  /** Runs before each start; a rejection counts as a failed start. */
  readonly prepare?: () => Promise<void>;
  /** Resolves once the process is ready; the signal aborts when the process ends first. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  readonly onUp?: () => void;
  /** The process ended or failed to start, as `detail` says; a restart follows. */
  readonly onDown?: (detail: string) => void;
}

/** A child process that is restarted with exponential backoff whenever it ends, until `stop`. */
export class SupervisedProcess {
  readonly #options: SupervisedOptions;
  readonly #stopping = new AbortController();
  #child: TrackedProcess | undefined;
  #launching: Promise<void> | undefined;
  #supervising: Promise<void> | undefined;

  constructor(options: SupervisedOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when it is ready; rejects with StartError CHILD_DID_NOT_START when the first start fails. */
  async start(): Promise<void> {
    await this.#launch();
    this.#supervising = this.#supervise(true);
  }

  /** Starts it in the background and retries until it is ready; onUp and onDown report the outcome. */
  startInBackground(): void {
    this.#supervising = this.#supervise(false);
  }

  /** Resolves when the child has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#child?.stop();
    await this.#launching?.catch(() => undefined);
    await this.#supervising;
  }

  async #supervise(isUp: boolean): Promise<void> {
    let failures = 0;
    while (!this.#stopping.signal.aborted) {
      if (isUp) {
        const upSince = Date.now();
        const outcome = await this.#child!.ended;
        if (this.#stopping.signal.aborted) return;
        if (Date.now() - upSince > STABLE_MS) failures = 0;
        this.#options.onDown?.(`${this.#options.label} ended with ${outcome}`);
        await this.#backOff(failures++);
      }
      isUp = await this.#launch().then(
        () => true,
        async (error: Error) => {
          if (this.#stopping.signal.aborted) return false;
          this.#options.onDown?.(error.message);
          await this.#backOff(failures++);
          return false;
        },
      );
    }
  }

  async #backOff(failures: number): Promise<void> {
    const waitMs = Math.min(FIRST_BACKOFF_MS * 2 ** failures, MAX_BACKOFF_MS);
    await delay(waitMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  #launch(): Promise<void> {
    this.#launching = this.#launchOnce();
    return this.#launching;
  }

  async #launchOnce(): Promise<void> {
    const { folder, name, label, command, prepare, ready, onUp } = this.#options;
    await prepare?.();
    this.#stopping.signal.throwIfAborted();
    const child = new TrackedProcess(folder, name, command);
    this.#child = child;
    const died = new AbortController();
    const outcome = await Promise.race([child.ended, ready(died.signal)]).catch(async (error) => {
      await child.stop();
      throw error;
    });
    died.abort();
    this.#stopping.signal.throwIfAborted();
    if (outcome !== undefined) {
      const message = `${label} did not start (${outcome}): ${child.lastLogLine()} (${child.logFile})`;
      throw new StartError('CHILD_DID_NOT_START', message);
    }
    onUp?.();
  }
}
