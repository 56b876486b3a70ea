import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

/** A delivery as the sandbox sends it: with the headers and the body that are signed. */
export interface Delivery {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Why the local server did not respond, in the API's terms. */
export type ForwardFailure =
  | 'DNS'
  | 'CONNECTION_REFUSED'
  | 'CONNECTION_RESET'
  | 'TLS'
  | 'TIMEOUT'
  | 'PROTOCOL'
  | 'UNREACHABLE';

/** The local server's response, or why there was none. */
export type Outcome = { readonly latencyMs: number } & (
  | { readonly status: number; readonly response: string }
  | { readonly failure: ForwardFailure }
);

/** The same timeout as for any endpoint. */
const TIMEOUT_MS = 15_000;
const MAX_READ_BYTES = 64 * 1024;
const MAX_RESPONSE_CHARACTERS = 4_096;

const FAILURES: Readonly<Record<string, ForwardFailure>> = {
  ENOTFOUND: 'DNS',
  EAI_AGAIN: 'DNS',
  ECONNREFUSED: 'CONNECTION_REFUSED',
  ECONNRESET: 'CONNECTION_RESET',
  EPIPE: 'CONNECTION_RESET',
  ETIMEDOUT: 'TIMEOUT',
  EPROTO: 'TLS',
  ENETUNREACH: 'UNREACHABLE',
  EHOSTUNREACH: 'UNREACHABLE',
};

/**
 * Sends a delivery to the local server, as an endpoint on the internet would receive it: a redirect is not followed, and
 * the response has to be complete within 15 seconds, or until the signal is aborted. Never rejects.
 */
export async function forward(url: URL, { headers, body }: Delivery, signal: AbortSignal): Promise<Outcome> {
  const startedMs = performance.now();
  const timing = () => ({ latencyMs: Math.round(performance.now() - startedMs) });
  try {
    const answer = await post(url, headers, Buffer.from(body), signal);
    return { ...answer, ...timing() };
  } catch (error) {
    return { failure: failureOf(error), ...timing() };
  }
}

function post(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  stopped: AbortSignal,
): Promise<{ status: number; response: string }> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(TIMEOUT_MS)]);
  return new Promise((resolve, reject) => {
    // A connection per delivery: a server that restarts between two would have closed a shared one.
    const outgoing = request(url, { method: 'POST', headers, signal, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      let readBytes = 0;
      const finish = () => {
        const response = Buffer.concat(chunks).toString().slice(0, MAX_RESPONSE_CHARACTERS).toWellFormed();
        resolve({ status: incoming.statusCode ?? 0, response });
      };
      incoming.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        readBytes += chunk.length;
        if (readBytes < MAX_READ_BYTES) return;
        finish();
        incoming.destroy();
      });
      incoming.on('end', finish);
      incoming.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function failureOf(error: unknown): ForwardFailure {
  if (!(error instanceof Error)) return 'PROTOCOL';
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'TIMEOUT';
  // Every address of the host failed.
  if (error instanceof AggregateError && error.errors.length > 0) return failureOf(error.errors[0]);
  const code = 'code' in error ? String(error.code) : '';
  if (/^(ERR_TLS|ERR_SSL|CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) return 'TLS';
  return FAILURES[code] ?? 'PROTOCOL';
}
