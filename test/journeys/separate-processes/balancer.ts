import { connect, createServer, type Socket } from 'node:net';
import { portOf } from '../../support/port-of.ts';

/** A process behind a load balancer. */
export interface Backend {
  readonly port: number;
  readonly opsPort: number;
  /** Of the dashboard, which only a gateway serves. */
  readonly dashboardPort: number;
}

/** How often a load balancer asks whether a process is ready. */
const PROBE_MS = 200;
/** On a full machine a process that serves answers late. One that stops answers 503 at once, and a killed one refuses. */
const PROBE_TIMEOUT_MS = 10_000;

export const isReady = ({ opsPort }: Backend): Promise<boolean> =>
  fetch(`http://127.0.0.1:${opsPort}/readyz`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).then(
    async (response) => {
      await response.body?.cancel();
      return response.ok;
    },
    () => false,
  );

/** The processes that are ready, as a load balancer knows them: by probes of /readyz. */
export class ReadyBackends {
  readonly #backends = new Set<Backend>();
  readonly #ready = new Set<Backend>();
  readonly #probing: NodeJS.Timeout;
  #next = 0;

  constructor() {
    this.#probing = setInterval(() => {
      for (const backend of this.#backends) void this.#probe(backend);
    }, PROBE_MS);
  }

  get count(): number {
    return this.#ready.size;
  }

  add(backend: Backend): void {
    this.#backends.add(backend);
  }

  remove(backend: Backend): void {
    this.#backends.delete(backend);
    this.#ready.delete(backend);
  }

  /** The next ready process, round robin. */
  next(): Backend {
    const ready = [...this.#ready];
    this.#next += 1;
    const backend = ready[this.#next % ready.length];
    if (!backend) throw new Error('no process is ready');
    return backend;
  }

  /** A connection was refused: not ready until the next probe. */
  refused(backend: Backend): void {
    this.#ready.delete(backend);
  }

  close(): void {
    clearInterval(this.#probing);
  }

  async #probe(backend: Backend): Promise<void> {
    if ((await isReady(backend)) && this.#backends.has(backend)) this.#ready.add(backend);
    else this.#ready.delete(backend);
  }
}

/** A TCP load balancer: each connection goes to a process that is ready, or to the next if that refuses it. */
export async function startBalancer(
  backends: ReadyBackends,
  port: 'port' | 'dashboardPort' = 'port',
): Promise<{ readonly port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer({ pauseOnConnect: true }, (client) => {
    sockets.add(client);
    client.on('error', () => client.destroy()).on('close', () => sockets.delete(client));
    open(client);
  });
  function open(client: Socket): void {
    if (backends.count === 0) return void client.destroy();
    const backend = backends.next();
    const upstream = connect(backend[port], '127.0.0.1');
    let isOpen = false;
    upstream.once('connect', () => {
      isOpen = true;
      client.pipe(upstream).pipe(client);
      client.resume();
      client.once('close', () => upstream.destroy());
    });
    upstream.on('error', () => {
      if (isOpen) return client.destroy();
      backends.refused(backend);
      open(client);
    });
    upstream.on('close', () => {
      if (isOpen) client.destroy();
    });
  }
  server.listen(0, '127.0.0.1');
  return {
    port: await portOf(server),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
