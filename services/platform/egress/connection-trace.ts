/** The state of a connection: what it is waiting for, or OPEN. */
export type ConnectionStep = 'DNS' | 'CONNECT' | 'TLS' | 'OPEN';

/** Times the steps of one connection. */
export class ConnectionTrace {
  readonly startedAtMs = performance.now();
  readonly #tookMs = new Map<ConnectionStep, number>();
  #step: ConnectionStep = 'DNS';
  #beganAtMs = this.startedAtMs;

  get step(): ConnectionStep {
    return this.#step;
  }

  /** Ends the current step and begins the next one. */
  begin(step: ConnectionStep): void {
    const nowMs = performance.now();
    this.#tookMs.set(this.#step, nowMs - this.#beganAtMs);
    this.#step = step;
    this.#beganAtMs = nowMs;
  }

  /** How long a step took, or how long the current one has taken so far; undefined if it has not begun. */
  tookMs(step: ConnectionStep): number | undefined {
    return step === this.#step ? performance.now() - this.#beganAtMs : this.#tookMs.get(step);
  }
}
