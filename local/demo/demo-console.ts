import type { WriteStream } from 'node:tty';

const PROGRESS_INTERVAL_MS = 10_000;
const CLEAR_LINE = '\r\x1b[K';

/** Prints the demo's steps. Progress updates one line of a terminal; elsewhere it is a line every ten seconds. */
export class DemoConsole {
  readonly #stream: Pick<WriteStream, 'write' | 'isTTY'>;
  #isProgressShown = false;
  #lastProgressAt = Number.NEGATIVE_INFINITY;

  constructor(stream: Pick<WriteStream, 'write' | 'isTTY'>) {
    this.#stream = stream;
  }

  /** The heading of a step. */
  step(number: number, line: string): void {
    this.#print(`${String(number).padStart(2)}  ${line}`);
  }

  /** A line below a heading. */
  detail(line: string): void {
    this.#print(`    ${line}`);
  }

  /** Replaces the progress shown before. */
  progress(line: string): void {
    if (this.#stream.isTTY) {
      this.#stream.write(`${CLEAR_LINE}    ${line}`);
      this.#isProgressShown = true;
    } else if (Date.now() - this.#lastProgressAt >= PROGRESS_INTERVAL_MS) {
      this.#print(`    ${line}`);
      this.#lastProgressAt = Date.now();
    }
  }

  /** Ends a line of progress that is still open. */
  end(): void {
    if (this.#isProgressShown) this.#stream.write('\n');
    this.#isProgressShown = false;
  }

  #print(line: string): void {
    this.end();
    this.#stream.write(`${line}\n`);
  }
}
