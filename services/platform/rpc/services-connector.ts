import { isIP, type LookupFunction, type Socket } from 'node:net';
import { Counter } from 'prom-client';
import { buildConnector, errors } from 'undici';
import { metrics } from '../process/telemetry.ts';
import type { TlsFiles } from '../process/tls-files.ts';
import { lookupServices } from './lookup-services.ts';
import { type Proof, proveAlive, type Resource } from './prove-alive.ts';

/** How long a process may take to accept a connection, and then to answer on it. */
const ANSWER_MS = 2_000;
/** How often addresses from which nothing has come are asked. */
const CHECK_MS = 1_000;
/** Together as long as calls may take: while every process is silent, their deadlines decide. */
const MAX_ATTEMPTS = 5;

const silences = new Counter({
  name: 'payments_services_silent_total',
  help: 'How often this process has found that an address of services does not answer.',
  registers: [metrics],
});

/** The code of the cause when no process took the connection of a call. */
export const NOT_CONNECTED = 'NOT_CONNECTED';

/** How a client authenticates, and which server it expects. */
export interface ClientTls {
  readonly files: TlsFiles;
  /** The name in the certificate of the server. Default: the host of the URL. */
  readonly serverName?: string | undefined;
}

/**
 * Connects to the processes of services behind one name. The kernel of a frozen process still accepts connections, and a
 * host that is gone refuses none. So a new connection has to answer before it gets a call, and an address from which nothing
 * comes is asked once a second. While one does not answer, others of the name get its new connections. Those that it has end
 * once another one answers, unless something still comes on them: a load balancer may have passed only the new one to a frozen
 * process.
 */
export class ServicesConnector {
  /** Also without a client certificate: a load balancer in front of services may do the TLS. */
  readonly isSecure: boolean;
  readonly tls: ClientTls | undefined;
  readonly #target: buildConnector.Options;
  /** What proofs request: as calls do, because load balancers may route by them. */
  readonly #resource: Resource;
  readonly #peers = new Map<string, Peer>();
  /** The addresses that did not answer. */
  readonly #silent = new Set<string>();
  /** The answers of those that are being asked. */
  readonly #asked = new Map<string, Promise<Proof>>();
  /** The connections on which addresses are asked. */
  readonly #probes = new Map<string, Socket>();
  /** The resolver's latest answer; none for a URL with an IP address. */
  #addresses: readonly string[] = [];
  #checking: NodeJS.Timeout | undefined;

  constructor(baseUrl: string, tls: ClientTls | undefined) {
    const { protocol, host, hostname, port, pathname } = new URL(baseUrl);
    this.#resource = { host, path: pathname };
    this.#target = { protocol, host, port, hostname: hostname.replaceAll(/[[\]]/g, '') };
    this.isSecure = protocol === 'https:';
    this.tls = tls;
  }

  /** Opens a connection to a process that has just answered. Undici and the agents of Node.js call it. */
  readonly connect = (_target: unknown, callback: buildConnector.Callback): void => {
    this.#open().then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };

  async #open(): Promise<Socket> {
    for (let attempt = 1; ; attempt += 1) {
      const socket = await this.#connectBy(this.#lookup).catch((error: unknown) => {
        if (!isTimeout(error) || attempt === MAX_ATTEMPTS) throw error;
      });
      if (!socket) continue;
      const address = socket.remoteAddress ?? '';
      const proof = await proveAlive(socket, this.#resource, ANSWER_MS);
      if (proof === 'OPEN') return this.#watched(socket, address);
      socket.destroy();
      // A process that is about to stop serves one request per connection.
      if (proof === 'CLOSING') return this.#watched(await this.#connectTo(address), address);
      if (proof === 'SILENT') this.#passOver(address);
      if (proof === 'CLOSED' || attempt === MAX_ATTEMPTS) throw notConnected(address);
    }
  }

  /** The addresses of services in random order, silent ones last. */
  readonly #lookup: LookupFunction = (name, options, callback) =>
    lookupServices(name, options, (error, addresses, family) => {
      if (error || typeof addresses === 'string') return callback(error, addresses, family);
      this.#addresses = addresses.map(({ address }) => address);
      const isGone = (address: string) => !this.#addresses.includes(address);
      for (const address of this.#silent) if (isGone(address)) this.#silent.delete(address);
      for (const [address, probe] of this.#probes) if (isGone(address)) probe.destroy();
      const { silent = [], alive = [] } = Object.groupBy(addresses, ({ address }) =>
        this.#silent.has(address) ? 'silent' : 'alive',
      );
      callback(null, [...alive, ...silent]);
    });

  #connectTo(address: string): Promise<Socket> {
    return this.#connectBy((_name, _options, callback) =>
      callback(null, [{ address, family: isIP(address) }]),
    );
  }

  #connectBy(lookup: LookupFunction): Promise<Socket> {
    const { files, serverName } = this.tls ?? {};
    const connect = buildConnector({
      ...files?.current,
      ...(serverName !== undefined && { servername: serverName }),
      allowH2: false,
      maxCachedSessions: 0,
      timeout: ANSWER_MS,
      lookup,
    } as buildConnector.BuildOptions);
    return new Promise((resolve, reject) => {
      let attempted = '';
      // It returns the socket, which its types do not say.
      const connecting: unknown = connect(this.#target, (error, socket) => {
        if (!error) return resolve(socket as Socket);
        if (isTimeout(error) && attempted) this.#passOver(attempted);
        reject(error);
      });
      (connecting as Socket)
        .on('connectionAttempt', (address) => {
          attempted = address;
        })
        .on('connectionAttemptFailed', () => {
          attempted = '';
        })
        // Node.js tries the next address.
        .on('connectionAttemptTimeout', (address) => this.#markSilent(address));
    });
  }

  #watched(socket: Socket, address: string): Socket {
    this.#silent.delete(address);
    const peer = this.#peers.get(address) ?? new Peer();
    this.#peers.set(address, peer);
    peer.add(socket, () => this.#peers.delete(address));
    this.#checking ??= setInterval(() => this.#check(), CHECK_MS).unref();
    return socket;
  }

  #check(): void {
    if (this.#peers.size === 0) {
      clearInterval(this.#checking);
      this.#checking = undefined;
      for (const probe of this.#probes.values()) probe.destroy();
      return;
    }
    const quiet = [...this.#peers].filter(([, peer]) => peer.check()).map(([address]) => address);
    const isOnly = (address: string) => this.#addresses.every((other) => other === address);
    for (const address of new Set([...quiet, ...this.#silent])) if (!isOnly(address)) void this.#ask(address);
  }

  /** Asks whether an address answers. Concurrent questions are one. */
  #ask(address: string): Promise<Proof> {
    const asked = this.#asked.get(address) ?? this.#learn(address);
    this.#asked.set(address, asked);
    return asked;
  }

  async #learn(address: string): Promise<Proof> {
    const proof = await this.#probe(address);
    this.#asked.delete(address);
    if (proof === 'SILENT') this.#passOver(address);
    else if (proof !== 'CLOSED') this.#silent.delete(address);
    return proof;
  }

  async #probe(address: string): Promise<Proof> {
    try {
      const probe = this.#probes.get(address) ?? (await this.#openProbe(address));
      const proof = await proveAlive(probe, this.#resource, ANSWER_MS);
      if (proof !== 'OPEN') probe.destroy();
      return proof;
    } catch (error) {
      return isTimeout(error) ? 'SILENT' : 'CLOSED';
    }
  }

  async #openProbe(address: string): Promise<Socket> {
    const probe = await this.#connectTo(address);
    this.#probes.set(address, probe);
    return probe.unref().once('close', () => this.#probes.delete(address));
  }

  #markSilent(address: string): void {
    if (!this.#silent.has(address)) silences.inc();
    this.#silent.add(address);
  }

  /** Ends the connections to an address that did not answer, if nothing comes on them and another address answers. */
  #passOver(address: string): void {
    this.#markSilent(address);
    const peer = this.#peers.get(address);
    if (!peer?.isQuiet) return;
    for (const other of this.#addresses) {
      if (this.#silent.has(other)) continue;
      void this.#answers(other).then((answers) => {
        if (answers && peer.isQuiet && this.#silent.has(address)) peer.end(timedOut(address));
      });
    }
  }

  async #answers(address: string): Promise<boolean> {
    const peer = this.#peers.get(address);
    return (peer && !peer.isQuiet) || ['OPEN', 'CLOSING'].includes(await this.#ask(address));
  }
}

/** The connections to one address of services. */
class Peer {
  readonly #sockets = new Set<Socket>();
  /** On those that have ended. */
  #formerBytes = 0;
  /** At the last check. */
  #checkedBytes = 0;
  #wasQuiet = false;

  add(socket: Socket, onEmpty: () => void): void {
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#formerBytes += socket.bytesRead;
      if (this.#sockets.size === 0) onEmpty();
    });
  }

  /** Returns whether nothing has come since the last check. */
  check(): boolean {
    const bytes = this.#bytes;
    this.#wasQuiet = bytes === this.#checkedBytes;
    this.#checkedBytes = bytes;
    return this.#wasQuiet;
  }

  /** Whether nothing has come since the check before the last one. */
  get isQuiet(): boolean {
    return this.#wasQuiet && this.#bytes === this.#checkedBytes;
  }

  end(error: Error): void {
    for (const socket of this.#sockets) socket.destroy(error);
  }

  get #bytes(): number {
    return [...this.#sockets].reduce((sum, socket) => sum + socket.bytesRead, this.#formerBytes);
  }
}

const isTimeout = (error: unknown) => error instanceof errors.ConnectTimeoutError;

const notConnected = (address: string) =>
  Object.assign(new Error(`${address} accepts connections but does not answer`), {
    code: NOT_CONNECTED,
    syscall: 'connect',
  });

const timedOut = (address: string) =>
  Object.assign(new Error(`${address} does not answer`), { code: 'ETIMEDOUT', syscall: 'read' });
