import { setTimeout as delay } from 'node:timers/promises';
import type { DataFolder } from '../data-folder.ts';
import { StartError } from '../start-error.ts';
import { type ChildCommand, RecordedChild } from './tracked-process.ts';

const FIRST_BACK_OFF_MS = 200;
const LONGEST_BACK_OFF_MS = 15_000;
/** After so long up, the next death counts as the first. */
const STABLE_MS = 60_000;

/** What is kept running, and how it is known to serve. */
export interface SupervisedOptions {
  readonly folder: DataFolder;
  /** Of its pid and log files. */
  readonly name: string;
  /** As people call it. */
  readonly label: string;
  readonly command: ChildCommand;
  /** Runs before each start; a rejection counts as a failed start. */
  readonly prepare?: () => Promise<void>;
  /** Resolves once it serves; ends when the signal says that the child has died. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  readonly onUp?: () => void;
  /** The child has died or a start has failed, as the sentence says; another start follows. */
  readonly onDown?: (detail: string) => void;
}

/** A child process that is started again, with back-off, whenever it dies, until it is stopped. */
export class SupervisedProcess {
  readonly #options: SupervisedOptions;
  readonly #stopping = new AbortController();
  #child: RecordedChild | undefined;
  #launching: Promise<void> | undefined;
  #keeping: Promise<void> | undefined;

  constructor(options: SupervisedOptions) {
    this.#options = options;
  }

  /** Of the child that runs now. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when it serves; rejects with StartError CHILD_DID_NOT_START when the first start fails. */
  async start(): Promise<void> {
    await this.#launch();
    this.#keeping = this.#keepUp(true);
  }

  /** Starts it in the background, again and again until it serves; onUp and onDown tell of it. */
  startInBackground(): void {
    this.#keeping = this.#keepUp(false);
  }

  /** Resolves when the child has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#child?.stop();
    await this.#launching?.catch(() => undefined);
    await this.#keeping;
  }

  async #keepUp(isUp: boolean): Promise<void> {
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
    const waitMs = Math.min(FIRST_BACK_OFF_MS * 2 ** failures, LONGEST_BACK_OFF_MS);
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
    const child = new RecordedChild(folder, name, command);
    this.#child = child;
    const died = new AbortController();
    const outcome = await Promise.race([child.ended, ready(died.signal)]).catch(async (error) => {
      await child.stop();
      throw error;
    });
    died.abort();
    this.#stopping.signal.throwIfAborted();
    if (outcome !== undefined) {
      const message = `${label} did not start (${outcome}): ${child.lastWords()} (${child.logFile})`;
      throw new StartError('CHILD_DID_NOT_START', message);
    }
    onUp?.();
  }
}
