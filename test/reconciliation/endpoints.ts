import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { issueCertificate } from '../../local/certificates.ts';
import { type Listening, listen, testAuthority } from '../support/tls-receiver.ts';
import type { EndpointFault } from './fault-schedule.ts';
import type { Arrival } from './records.ts';

const LATE_MS = 2_500;
const leaf = await issueCertificate(testAuthority, { names: ['localhost'] });

interface Received extends Arrival {
  answer: number | undefined;
  answeredOrder: number | undefined;
}

/** Everything that the endpoints have received, verified with the secret of the subscription named in the path. */
export class ArrivalLog {
  readonly arrivals: Received[] = [];
  /** Requests with a wrong signature or body. */
  readonly forged: string[] = [];
  readonly #secrets = new Map<string, Webhook>();
  readonly #waiting = new Map<string, (() => void)[]>();
  #order = 0;

  /** Verifies later requests to the subscription's path, and the earlier ones. */
  knowSecret(path: string, secret: string): void {
    this.#secrets.set(path, new Webhook(secret));
    for (const verify of this.#waiting.get(path) ?? []) verify();
    this.#waiting.delete(path);
  }

  get unverified(): number {
    return [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0);
  }

  add({ url: path = '', headers }: IncomingMessage, body: Buffer): Received {
    const { id, type, sequence } = JSON.parse(body.toString());
    const arrival: Received = {
      order: this.#nextOrder(),
      at: Date.now(),
      path,
      eventId: id,
      type,
      sequence,
      stamp: Number(headers['webhook-timestamp']),
      answer: undefined,
      answeredOrder: undefined,
    };
    this.arrivals.push(arrival);
    const verify = () => {
      try {
        this.#secrets.get(path)!.verify(body, headers as Record<string, string>);
        if (headers['webhook-id'] !== id) throw new Error('webhook-id is not the id in the body');
      } catch (error) {
        this.forged.push(`${path} ${id}: ${(error as Error).message}`);
      }
    };
    if (this.#secrets.has(path)) verify();
    else this.#waiting.set(path, [...(this.#waiting.get(path) ?? []), verify]);
    return arrival;
  }

  answered(arrival: Received, status: number): void {
    arrival.answer = status;
    arrival.answeredOrder = this.#nextOrder();
  }

  #nextOrder(): number {
    this.#order += 1;
    return this.#order;
  }
}

/** A merchant's HTTPS endpoint, which misbehaves at times. */
export interface Endpoint extends Listening {
  fault: EndpointFault | undefined;
}

export async function startEndpoint(log: ArrivalLog): Promise<Endpoint> {
  const options = { cert: leaf.certificatePem, key: leaf.privateKeyPem };
  const server = createServer(options, (request, response) => {
    // An aborted request has not arrived.
    receive(request, response).catch(() => response.destroy());
  });
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    const body = Buffer.concat(await request.toArray());
    const arrival = log.add(request, body);
    const answer = (status: number, headers: Record<string, string> = {}) => {
      log.answered(arrival, status);
      response.writeHead(status, headers).end();
    };
    const { fault } = endpoint;
    switch (fault) {
      case undefined:
        return answer(204);
      case 'answer 500':
        return answer(500);
      case 'answer 503':
        return answer(503, { 'retry-after': '1' });
      case 'answer late':
        await delay(LATE_MS);
        return answer(200);
      case 'hang':
        return;
      case 'hang up':
        return void response.destroy();
      default:
        return fault satisfies never;
    }
  }
  const listening = await listen(server, '127.0.0.1');
  const endpoint: Endpoint = Object.assign(listening, { fault: undefined });
  return endpoint;
}
