import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Worker } from 'node:worker_threads';
import { issueCertificate } from '../../local/certificates.ts';
import { TEST_NAMES, testAuthority } from '../support/tls-receiver.ts';
import type { HostilePorts } from './isolation-thread.ts';

const SLOW_MS = 1_000;
const DRIP_EVERY_MS = 250;

export type EndpointFailure = 'hangs' | 'drips' | 'slow' | 'a 64 MB answer' | 'no TLS' | 'mute';

export interface FailingEndpoint {
  readonly failure: EndpointFailure;
  readonly url: string;
}

const urlAt = (port: number, path = '/hook') => `https://localhost:${port}${path}`;

/** Endpoints that fail in every way, some of them at the address of a healthy one. */
export class HostileEndpoints {
  readonly #thread: Worker;
  readonly #ports: HostilePorts;
  readonly #held = new Set<ServerResponse>();

  private constructor(thread: Worker, ports: HostilePorts) {
    this.#thread = thread;
    this.#ports = ports;
  }

  static async start(): Promise<HostileEndpoints> {
    const workerData = await issueCertificate(testAuthority, { names: TEST_NAMES });
    const thread = new Worker(new URL('isolation-thread.ts', import.meta.url), { workerData });
    const [ports] = await once(thread, 'message');
    return new HostileEndpoints(thread, ports);
  }

  /** One of each failure. @param shared the port of the server whose requests `respond` answers. */
  failingInEveryWay(shared: number): FailingEndpoint[] {
    return [
      { failure: 'hangs', url: urlAt(shared, '/hangs') },
      { failure: 'drips', url: urlAt(shared, '/drips') },
      { failure: 'slow', url: urlAt(shared, '/slow') },
      { failure: 'a 64 MB answer', url: urlAt(this.#ports.large) },
      { failure: 'no TLS', url: urlAt(this.#ports.refusesTls) },
      { failure: 'mute', url: urlAt(this.#ports.mute) },
    ];
  }

  /** @param shared as above. */
  hanging(shared: number, count: number): FailingEndpoint[] {
    return Array.from({ length: count }, (_, n) => ({ failure: 'hangs', url: urlAt(shared, `/hangs/${n}`) }));
  }

  /** Handles a request to one of the paths, possibly without an answer. @returns whether it was one of them. */
  respond({ url }: IncomingMessage, response: ServerResponse): boolean {
    switch (url!.split('/')[1]) {
      case 'hangs':
        break;
      case 'drips': {
        response.writeHead(200);
        const drip = setInterval(() => response.write('.'), DRIP_EVERY_MS);
        response.on('close', () => clearInterval(drip));
        break;
      }
      case 'slow': {
        const answer = setTimeout(() => response.writeHead(200).end(), SLOW_MS);
        response.on('close', () => clearTimeout(answer));
        break;
      }
      default:
        return false;
    }
    this.#held.add(response);
    response.on('close', () => this.#held.delete(response));
    return true;
  }

  /** Ends all open connections of these endpoints. */
  hangUp(): void {
    for (const { socket } of this.#held) socket?.destroy();
    this.#thread.postMessage('hang up');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.hangUp();
    await this.#thread.terminate();
  }
}
