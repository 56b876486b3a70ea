import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { portOf } from '../support/port-of.ts';

interface Received {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly atMs: number;
}

/** Answers a request, the `turn`th of its URL, counted from 0. */
type Respond = (response: ServerResponse, turn: number, url: string) => void;

/** A local server that runs as long as the test and records its requests. */
export async function startScriptedServer(respond: Respond) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const { headers, url = '' } = request;
    const atMs = performance.now();
    const body = Buffer.concat(await Array.fromAsync(request)).toString();
    const turn = received.filter((other) => other.url === url).length;
    received.push({ url, headers, body, atMs });
    respond(response, turn, url);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${await portOf(server)}`, received };
}

/** Answers with JSON. */
export function answer(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
