import type { Dispatcher } from 'undici';
import { ResponseExcerpt } from './response-excerpt.ts';

/** A receiver's response. */
export interface Answer {
  readonly httpStatus: number;
  /** At most 4 KiB of printable UTF-8. */
  readonly responseExcerpt: string;
  readonly retryAfter: string | undefined;
}

type Controller = Dispatcher.DispatchController;
type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/**
 * One request and its response, read up to 64 KiB. It handles undici's events directly, because a stream for each
 * response, which is nearly always empty, costs as much as the request.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #answer = Promise.withResolvers<Answer>();
  readonly #excerpt = new ResponseExcerpt();
  #controller: Controller | undefined;
  #httpStatus = 0;
  #retryAfter: string | undefined;
  /** Why it was stopped before its response, or before the end of a long one. */
  #stopped: Error | undefined;

  /** Rejects with undici's error, the connector's, or the one it was stopped with. */
  get answer(): Promise<Answer> {
    return this.#answer.promise;
  }

  /** Stops it at once, even while it waits for a connection; a complete answer stays. */
  stop(reason: Error): void {
    this.#answer.reject(reason);
    this.#stopped = reason;
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    // undici can abort a request only once it has given it a connection.
    if (this.#stopped) controller.abort(this.#stopped);
  }

  onResponseStart(_controller: Controller, httpStatus: number, headers: Headers): void {
    if (httpStatus < 200) return;
    this.#httpStatus = httpStatus;
    this.#retryAfter = [headers['retry-after']].flat()[0];
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#stopped || this.#excerpt.add(chunk)) return;
    this.onResponseEnd();
    this.stop(TOO_LONG);
  }

  onResponseEnd(): void {
    this.#answer.resolve({
      httpStatus: this.#httpStatus,
      responseExcerpt: this.#excerpt.text(),
      retryAfter: this.#retryAfter,
    });
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#answer.reject(error);
  }
}

const TOO_LONG = new Error('the rest of the response is not read');
