import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { DataFolder } from '../data-folder.ts';
import { loadDemoCertificate } from './demo-certificate.ts';

const KEPT_DELIVERIES = 200;
const KEPT_SECRETS = 100;
const BODY_LIMIT_BYTES = 1024 * 1024;
const RENEWAL_CHECK_MS = 24 * 60 * 60 * 1000;

/** A delivery as it came in; GET /deliveries answers the newest first. */
export interface ReceivedDelivery {
  readonly receivedAt: string;
  readonly path: string;
  /** The header `webhook-id`. */
  readonly webhookId: string | null;
  /** By the npm package standardwebhooks; null while this path has no secret. */
  readonly verified: boolean | null;
  /** The status that was answered. */
  readonly answered: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface DemoReceiverOptions {
  readonly folder: DataFolder;
  readonly port: number;
  readonly onDelivery?: (delivery: ReceivedDelivery) => void;
}

export interface DemoReceiver {
  /** `https://localhost:<port>`; a POST to any path under /webhooks/ is a delivery. */
  readonly url: string;
  /** Path of the CA's PEM file. */
  readonly caFile: string;
  stop(): Promise<void>;
}

interface Failure {
  readonly path: string | undefined;
  readonly status: number;
  left: number;
}

/**
 * Starts an HTTPS endpoint for demos, on loopback only:
 * `POST /webhooks/<any>` takes a delivery (204; 401 when the path has a secret and the signature is not by it);
 * `GET /deliveries?path=` lists what came; `PUT /secrets?path=` (body: the `whsec_…` secret) lets it verify;
 * `POST /fail?count=2&status=500&path=` answers the next deliveries so.
 */
export async function startDemoReceiver(options: DemoReceiverOptions): Promise<DemoReceiver> {
  const { folder, port, onDelivery } = options;
  const inbox = new DeliveryInbox(onDelivery);
  const { caFile, certificatePem, privateKeyPem } = await loadDemoCertificate(folder);
  const answer = (request: IncomingMessage, response: ServerResponse) => void inbox.answer(request, response);
  const open = () => createServer({ cert: certificatePem, key: privateKeyPem }, answer);
  const first = open().listen(port, '127.0.0.1');
  await once(first, 'listening');
  const { port: opened } = first.address() as AddressInfo;
  const servers = [first, await listenOnIpv6(open(), opened)].filter((server) => server !== undefined);
  const renewal = setInterval(async () => {
    const renewed = await loadDemoCertificate(folder);
    for (const server of servers) {
      server.setSecureContext({ cert: renewed.certificatePem, key: renewed.privateKeyPem });
    }
  }, RENEWAL_CHECK_MS).unref();
  const stop = async () => {
    clearInterval(renewal);
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
  return { url: `https://localhost:${opened}`, caFile, stop };
}

/** `localhost` may mean either address; a machine without IPv6 has only the other. */
async function listenOnIpv6(server: Server, port: number): Promise<Server | undefined> {
  server.listen(port, '::1');
  return once(server, 'listening').then(
    () => server,
    () => undefined,
  );
}

class DeliveryInbox {
  readonly #deliveries: ReceivedDelivery[] = [];
  readonly #secrets = new Map<string, string>();
  readonly #onDelivery: DemoReceiverOptions['onDelivery'];
  #failures: Failure[] = [];

  constructor(onDelivery: DemoReceiverOptions['onDelivery']) {
    this.#onDelivery = onDelivery;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const body = await readBody(request);
      const url = new URL(request.url ?? '/', 'https://localhost');
      if (request.method === 'POST' && url.pathname.startsWith('/webhooks/')) {
        return void response.writeHead(this.#take(url.pathname, request, body)).end();
      }
      const path = url.searchParams.get('path') ?? undefined;
      switch (`${request.method} ${url.pathname}`) {
        case 'GET /deliveries': {
          const deliveries = this.#deliveries.filter(
            (delivery) => path === undefined || delivery.path === path,
          );
          response.writeHead(200, { 'content-type': 'application/json' });
          return void response.end(JSON.stringify({ deliveries: deliveries.toReversed() }));
        }
        case 'PUT /secrets':
          return void response.writeHead(this.#keepSecret(path, body)).end();
        case 'POST /fail':
          return void response.writeHead(this.#planFailure(path, url.searchParams)).end();
        default:
          return void response.writeHead(404).end();
      }
    } catch (error) {
      response.writeHead(error instanceof BodyTooLong ? 413 : 400).end();
    }
  }

  #take(path: string, request: IncomingMessage, body: string): number {
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const verified = this.#verify(path, headers, body);
    const answered = this.#plannedFailure(path) ?? (verified === false ? 401 : 204);
    const webhookId = headers['webhook-id'] ?? null;
    const receivedAt = new Date().toISOString();
    const delivery = { receivedAt, path, webhookId, verified, answered, headers, body };
    this.#deliveries.push(delivery);
    if (this.#deliveries.length > KEPT_DELIVERIES) this.#deliveries.shift();
    this.#onDelivery?.(delivery);
    return answered;
  }

  #verify(path: string, headers: Record<string, string>, body: string): boolean | null {
    const secret = this.#secrets.get(path);
    if (secret === undefined) return null;
    try {
      new Webhook(secret).verify(body, headers);
      return true;
    } catch {
      return false;
    }
  }

  #keepSecret(path: string | undefined, secret: string): number {
    if (!path?.startsWith('/webhooks/') || !secret.startsWith('whsec_')) return 400;
    this.#secrets.set(path, secret.trim());
    const oldest = this.#secrets.keys().next().value;
    if (this.#secrets.size > KEPT_SECRETS && oldest !== undefined) this.#secrets.delete(oldest);
    return 204;
  }

  #planFailure(path: string | undefined, parameters: URLSearchParams): number {
    const left = Number(parameters.get('count') ?? 1);
    const status = Number(parameters.get('status') ?? 500);
    if (!Number.isSafeInteger(left) || left < 0) return 400;
    if (!Number.isInteger(status) || status < 300 || status > 599) return 400;
    this.#failures = [...this.#failures.filter((failure) => failure.path !== path), { path, status, left }];
    return 204;
  }

  #plannedFailure(path: string): number | undefined {
    const failure = this.#failures.find((planned) => planned.left > 0 && (planned.path ?? path) === path);
    if (failure) failure.left -= 1;
    return failure?.status;
  }
}

class BodyTooLong extends Error {}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    // Read to its end all the same, so that the connection stays good.
    length += chunk.length;
    if (length <= BODY_LIMIT_BYTES) chunks.push(chunk);
  }
  if (length > BODY_LIMIT_BYTES) throw new BodyTooLong();
  return Buffer.concat(chunks).toString('utf8');
}
