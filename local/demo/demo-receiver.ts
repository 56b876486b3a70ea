import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { DAY_MS } from '../../services/platform/durations.ts';
import type { DataFolder } from '../data-folder.ts';
import { loadDemoCertificate } from './demo-certificate.ts';

const MAX_DELIVERIES = 200;
const MAX_SECRETS = 100;
const BODY_LIMIT_BYTES = 1024 * 1024;
const RENEWAL_CHECK_MS = DAY_MS;

/** A delivery as it arrived. */
export interface ReceivedDelivery {
  readonly receivedAt: string;
  readonly path: string;
  /** The header `webhook-id`. */
  readonly webhookId: string | null;
  /** Whether the npm package standardwebhooks accepts the signature; null while the path has no secret. */
  readonly verified: boolean | null;
  /** The status that the receiver returned. */
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

interface PlannedFailure {
  readonly path: string | undefined;
  readonly status: number;
  remaining: number;
}

/**
 * Starts an HTTPS webhook endpoint for demos, on loopback only:
 * `POST /webhooks/<any>` accepts a delivery (204; 401 when the path has a secret that did not sign it);
 * `GET /deliveries?path=` lists deliveries, newest first;
 * `PUT /secrets?path=` sets the path's `whsec_…` secret, the request body;
 * `POST /fail?count=2&status=500&path=` makes the next deliveries fail with this status.
 */
export async function startDemoReceiver(options: DemoReceiverOptions): Promise<DemoReceiver> {
  const { folder, port, onDelivery } = options;
  const inbox = new DeliveryInbox(onDelivery);
  const { caFile, certificatePem, privateKeyPem } = await loadDemoCertificate(folder);
  const handle = (request: IncomingMessage, response: ServerResponse) => void inbox.handle(request, response);
  const newServer = () => createServer({ cert: certificatePem, key: privateKeyPem }, handle);
  const ipv4Server = newServer().listen(port, '127.0.0.1');
  await once(ipv4Server, 'listening');
  const { port: actualPort } = ipv4Server.address() as AddressInfo;
  const ipv6Server = await listenOnIpv6(newServer(), actualPort);
  const servers = ipv6Server ? [ipv4Server, ipv6Server] : [ipv4Server];
  const renew = async () => {
    const renewed = await loadDemoCertificate(folder);
    for (const server of servers) {
      server.setSecureContext({ cert: renewed.certificatePem, key: renewed.privateKeyPem });
    }
  };
  const renewal = setInterval(() => {
    // It is renewed long before it expires: the next checks try again.
    renew().catch((error: unknown) =>
      console.error("The demo receiver's certificate was not renewed:", error),
    );
  }, RENEWAL_CHECK_MS).unref();
  const stop = async () => {
    clearInterval(renewal);
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
  return { url: `https://localhost:${actualPort}`, caFile, stop };
}

/** `localhost` may resolve to either address. Undefined on a machine without IPv6. */
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
  #failures: PlannedFailure[] = [];

  constructor(onDelivery: DemoReceiverOptions['onDelivery']) {
    this.#onDelivery = onDelivery;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const body = await readBody(request);
      const url = new URL(request.url ?? '/', 'https://localhost');
      if (request.method === 'POST' && url.pathname.startsWith('/webhooks/')) {
        return void response.writeHead(this.#receive(url.pathname, request, body)).end();
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
          return void response.writeHead(this.#setSecret(path, body)).end();
        case 'POST /fail':
          return void response.writeHead(this.#planFailure(path, url.searchParams)).end();
        default:
          return void response.writeHead(404).end();
      }
    } catch (error) {
      response.writeHead(error instanceof BodyTooLong ? 413 : 400).end();
    }
  }

  #receive(path: string, request: IncomingMessage, body: string): number {
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const verified = this.#verify(path, headers, body);
    const answered = this.#nextFailure(path) ?? (verified === false ? 401 : 204);
    const webhookId = headers['webhook-id'] ?? null;
    const receivedAt = new Date().toISOString();
    const delivery = { receivedAt, path, webhookId, verified, answered, headers, body };
    this.#deliveries.push(delivery);
    if (this.#deliveries.length > MAX_DELIVERIES) this.#deliveries.shift();
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

  #setSecret(path: string | undefined, secret: string): number {
    if (!path?.startsWith('/webhooks/') || !secret.startsWith('whsec_')) return 400;
    this.#secrets.set(path, secret.trim());
    const oldest = this.#secrets.keys().next().value;
    if (this.#secrets.size > MAX_SECRETS && oldest !== undefined) this.#secrets.delete(oldest);
    return 204;
  }

  #planFailure(path: string | undefined, parameters: URLSearchParams): number {
    const remaining = Number(parameters.get('count') ?? 1);
    const status = Number(parameters.get('status') ?? 500);
    if (!Number.isSafeInteger(remaining) || remaining < 0) return 400;
    if (!Number.isInteger(status) || status < 300 || status > 599) return 400;
    const others = this.#failures.filter((failure) => failure.path !== path);
    this.#failures = [...others, { path, status, remaining }];
    return 204;
  }

  #nextFailure(path: string): number | undefined {
    const failure = this.#failures.find(
      (planned) => planned.remaining > 0 && (planned.path === undefined || planned.path === path),
    );
    if (failure) failure.remaining -= 1;
    return failure?.status;
  }
}

class BodyTooLong extends Error {}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    // A body that is too long is still read to its end, to keep the connection usable.
    length += chunk.length;
    if (length <= BODY_LIMIT_BYTES) chunks.push(chunk);
  }
  if (length > BODY_LIMIT_BYTES) throw new BodyTooLong();
  return Buffer.concat(chunks).toString('utf8');
}
