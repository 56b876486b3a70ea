import { CommandFailure } from './command-failure.ts';
import { readEventStream, type StreamMessage } from './event-stream.ts';

/** Where the sandbox is, and the key to use there. */
export interface ChannelSettings {
  readonly baseUrl: URL;
  readonly apiKey: string;
}

const NO_CONTENT = 204;
const RESPONSE_WITHIN_MS = 15_000;
/** Longer than the sandbox ever stays silent: it sends something every 15 seconds. */
const SILENT_FOR_MS = 40_000;

/** Calls the sandbox's channel for this command. Every error is a {@link CommandFailure}. */
export class Channel {
  readonly #settings: ChannelSettings;

  constructor(settings: ChannelSettings) {
    this.#settings = settings;
  }

  /** Posts JSON. Returns the JSON of the response, or undefined if it is empty. */
  async post(path: string, body: object, signal?: AbortSignal): Promise<unknown> {
    const timeout = AbortSignal.timeout(RESPONSE_WITHIN_MS);
    const until = signal ? AbortSignal.any([signal, timeout]) : timeout;
    const response = await this.#request('POST', path, body, until);
    if (response.status !== NO_CONTENT) this.#requireType(response, 'application/json');
    const text = await response.text().catch((error: unknown) => {
      throw this.#unreachable(error);
    });
    return text === '' ? undefined : JSON.parse(text);
  }

  /** Opens an event stream, and yields its messages, undefined for a comment, until it ends or falls silent. */
  async *stream(
    method: 'GET' | 'POST',
    path: string,
    { body, signal }: { body?: object; signal: AbortSignal },
  ): AsyncGenerator<StreamMessage | undefined> {
    const silent = new AbortController();
    const watchdog = setTimeout(() => silent.abort(), SILENT_FOR_MS);
    try {
      const response = await this.#request(method, path, body, AbortSignal.any([signal, silent.signal]));
      this.#requireType(response, 'text/event-stream');
      yield* this.#messagesOf(response, () => watchdog.refresh());
    } finally {
      clearTimeout(watchdog);
      silent.abort();
    }
  }

  async *#messagesOf({ body }: Response, onBytes: () => void): AsyncGenerator<StreamMessage | undefined> {
    if (!body) return;
    const messages = readEventStream(body, onBytes);
    for (;;) {
      const next = await messages.next().catch((error: unknown) => {
        throw this.#unreachable(error);
      });
      if (next.done) return;
      yield next.value;
    }
  }

  async #request(
    method: string,
    path: string,
    body: object | undefined,
    signal: AbortSignal,
  ): Promise<Response> {
    const { baseUrl, apiKey } = this.#settings;
    const response = await fetch(`${baseUrl.href.replace(/\/+$/, '')}${path}`, {
      method,
      signal,
      // A redirect could take the key to another host.
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw this.#unreachable(error);
    });
    if (!response.ok) throw await this.#refusal(response);
    return response;
  }

  #unreachable(error: unknown): CommandFailure {
    const { origin } = this.#settings.baseUrl;
    return new CommandFailure(`The connection to ${origin} failed: ${reasonOf(error)}.`, {
      isTemporary: true,
    });
  }

  /** Other servers may answer every request with a page. */
  #requireType(response: Response, type: string): void {
    if (!response.headers.get('content-type')?.startsWith(type)) throw this.#notTheSandbox(response);
  }

  #notTheSandbox({ status }: Response): CommandFailure {
    const { origin } = this.#settings.baseUrl;
    return new CommandFailure(
      `${origin} answered ${status}: it is not the sandbox of the Merchant Payments API. Set --base-url to the sandbox's address.`,
      { isTemporary: status >= 500 },
    );
  }

  /** The failure of an unsuccessful response, with the API's explanation. */
  async #refusal(response: Response): Promise<CommandFailure> {
    const problem = (await response.json().catch(() => undefined)) as Partial<Problem> | undefined;
    if (problem?.code === 'ROUTE_NOT_FOUND' || problem?.code === undefined)
      return this.#notTheSandbox(response);
    const isTemporary = response.status >= 500 || response.status === 429 || response.status === 409;
    const detail = inTypedWords(problem.detail ?? '');
    const isUnavailable = problem.code === 'SERVICE_UNAVAILABLE';
    const message = `${detail} (${problem.code}, request ${problem.requestId})`;
    return new CommandFailure(message, { isTemporary, isUnavailable });
  }
}

/** What the user types for each part of a request, which explanations begin with. */
const TYPED: readonly (readonly [RegExp, string])[] = [
  [/^(\/eventTypes(\/\d+)?|Query parameter 'types')(?=[: ])/, '--events'],
  [/^\/(type|eventType)(?=[: ])/, 'The event type'],
  [/^\/eventId(?=[: ])/, 'The event id'],
  [/^\/forwardsTo(?=[: ])/, '--forward-to'],
];

/** An explanation of the API in terms of the command line. */
function inTypedWords(detail: string): string {
  const [part, typed] = TYPED.find(([pattern]) => pattern.test(detail)) ?? [];
  return part && typed ? detail.replace(part, typed) : detail;
}

interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'no response in time';
  if (error.name === 'AbortError') return 'no data arrived in time';
  const { cause } = error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  return code ?? (cause instanceof Error && cause.message ? cause.message : error.message);
}
