import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { startProgram } from '../support/program.ts';

export interface KillableOptions {
  readonly name: string;
  /** From the root of the repository. */
  readonly file: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Its log, which is kept across restarts. */
  readonly logFile: string;
  /** The line that it logs once it serves. */
  readonly readyLine: string;
}

const START_AGAIN_MS = 500;
const READY_MS = 60_000;

/** A program of the system that is killed and started again. Restarts it if it ends by itself, like a supervisor. */
export class KillableProcess implements AsyncDisposable {
  readonly name: string;
  /** Unexpected exits of a serving process. A starting one may exit if it cannot reach its database. */
  readonly crashes: string[] = [];
  readonly #options: KillableOptions;
  #child: ChildProcess | undefined;
  #logFrom = 0;
  #served = false;

  constructor(options: KillableOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** Resolves when it serves, or after a minute, because its dependencies may be unavailable. */
  async start(): Promise<void> {
    this.#spawn();
    const giveUpAt = performance.now() + READY_MS;
    while (!this.#isReady() && performance.now() < giveUpAt) await delay(50);
  }

  /** Kills it, as a power cut would. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal);
  }

  /** When it logged a message, across all restarts, in milliseconds since 1970. */
  loggedAt(message: string): number[] {
    return readFileSync(this.#options.logFile, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith(`"msg":"${message}"}`))
      .map((line) => JSON.parse(line).time);
  }

  async [Symbol.asyncDispose]() {
    await this.kill();
  }

  #spawn(): void {
    const { file, settings, logFile } = this.#options;
    const log = openSync(logFile, 'a');
    this.#logFrom = statSync(logFile).size;
    this.#served = false;
    const { child } = startProgram(file, settings, { stdio: ['ignore', log, log] });
    closeSync(log);
    this.#child = child;
    child.once('exit', async (code, signal) => {
      if (this.#child !== child) return;
      if (this.#isReady()) {
        this.crashes.push(`${this.name} ended with ${signal ?? code}: ${this.#logged().slice(-1_500)}`);
      }
      await delay(START_AGAIN_MS);
      if (this.#child === child) this.#spawn();
    });
  }

  #isReady(): boolean {
    this.#served ||= this.#logged().includes(this.#options.readyLine);
    return this.#served;
  }

  /** Its log since the last start. */
  #logged(): string {
    return readFileSync(this.#options.logFile).subarray(this.#logFrom).toString();
  }
}
