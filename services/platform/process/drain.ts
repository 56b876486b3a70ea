import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * The first step of stopping a process: it reports that it is not ready but keeps serving for a while, so that load
 * balancers send new requests elsewhere before its ports close.
 */
export class Drain {
  readonly #delayMs: number;
  #hasBegun = false;

  /** @param delayMs how long the process keeps serving. */
  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  /** Whether the process is about to stop. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Resolves when the ports may close. */
  async begin(): Promise<void> {
    this.#hasBegun = true;
    await delay(this.#delayMs);
  }

  /**
   * From `begin` on, makes each response of the server ask its client to use another connection for the next request.
   */
  endConnectionsOf(server: EventEmitter): void {
    server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
      if (this.#hasBegun) response.setHeader('connection', 'close');
    });
  }
}
