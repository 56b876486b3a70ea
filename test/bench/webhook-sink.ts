import { createServer } from 'node:https';
import { portOf } from '../support/port-of.ts';

/** A receiver of webhooks, over TLS. */
export interface WebhookSink {
  /** Answers after 5 ms; times of arrival are kept for it alone. */
  readonly promptUrl: string;
  /** Answers after 10 s. */
  readonly hangingUrl: string;
  /** When each event first arrived, by its id, on the clock of `performance.now`. */
  readonly arrivals: ReadonlyMap<string, number>;
  /** Forgets all arrivals, so that a long measurement does not wait for the collection of millions. */
  forgetArrivals(): void;
  close(): void;
}

const PROMPT_MS = 5;
const HANGING_MS = 10_000;

/** Starts a receiver on loopback. */
export async function startSink(certificate: { cert: string; key: string }): Promise<WebhookSink> {
  const arrivals = new Map<string, number>();
  const server = createServer(certificate, (request, response) => {
    const isPrompt = request.url === '/prompt';
    request.resume().once('end', () => {
      const id = String(request.headers['webhook-id']);
      if (isPrompt && !arrivals.has(id)) arrivals.set(id, performance.now());
      setTimeout(() => response.writeHead(204).end(), isPrompt ? PROMPT_MS : HANGING_MS).unref();
    });
  });
  server.listen(0, '127.0.0.1');
  const origin = `https://127.0.0.1:${await portOf(server)}`;
  return {
    promptUrl: `${origin}/prompt`,
    hangingUrl: `${origin}/hanging`,
    arrivals,
    forgetArrivals: () => arrivals.clear(),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
