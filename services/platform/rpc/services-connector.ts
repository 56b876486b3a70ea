import { isIP, type LookupFunction, type Socket } from 'node:net';
import { Counter } from 'prom-client';
import { buildConnector, errors } from 'undici';
import { metrics } from '../process/telemetry.ts';
import type { TlsFiles } from '../process/tls-files.ts';
import { lookupServices } from './lookup-services.ts';
import { type ProbeResult, type ProbeTarget, probeConnection } from './probe-connection.ts';
import { ServicesPeer } from './services-peer.ts';

/** How long a process may take to accept a connection, and then to answer on it. */
const ANSWER_MS = 2_000;
/** How often addresses from which nothing has arrived are probed. */
const CHECK_MS = 1_000;
/** Together these take as long as calls may: while every process is silent, the deadlines of calls decide. */
const MAX_ATTEMPTS = 5;

const silences = new Counter({
  name: 'payments_services_silent_total',
  help: 'How often this process has found that an address of services does not answer.',
  registers: [metrics],
});

/** The code of the cause when no process answered on a new connection. */
export const NOT_CONNECTED = 'NOT_CONNECTED';

/** How a client authenticates, and which server it expects. */
export interface ClientTls {
  readonly files: TlsFiles;
  /** The name in the certificate of the server. Default: the host of the URL. */
  readonly serverName?: string | undefined;
}

/**
 * Connects to the processes of services behind one name. The kernel of a frozen process still accepts connections, and a host
 * that is gone refuses none. So a new connection is probed before it gets a call, and an address from which nothing arrives is
 * probed once a second. While one does not answer, new connections go to the others. Its own are ended once another address
 * answers, unless something still arrives on them: a load balancer may have passed only the probe to a frozen process.
 */
export class ServicesConnector {
  /** Also without a client certificate: a load balancer in front of services may do the TLS. */
  readonly isSecure: boolean;
  readonly tls: ClientTls | undefined;
  readonly #target: buildConnector.Options;
  /** Probes request what calls do, because load balancers may route by it. */
  readonly #probeTarget: ProbeTarget;
  readonly #peers = new Map<string, ServicesPeer>();
  /** The resolver's latest answer; none for a URL with an IP address. */
  #addresses: readonly string[] = [];
  #checking: NodeJS.Timeout | undefined;

  constructor(baseUrl: string, tls: ClientTls | undefined) {
    const { protocol, host, hostname, port, pathname } = new URL(baseUrl);
    this.#probeTarget = { host, path: pathname };
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
      const result = await probeConnection(socket, this.#probeTarget, ANSWER_MS);
      if (result === 'OPEN') return this.#track(socket, address);
      socket.destroy();
      // A process that is about to stop serves one request per connection.
      if (result === 'CLOSING') return this.#track(await this.#connectTo(address), address);
      if (result === 'SILENT') this.#passOver(this.#peerAt(address));
      if (result === 'CLOSED' || attempt === MAX_ATTEMPTS) throw notConnected(address);
    }
  }

  #peerAt(address: string): ServicesPeer {
    const peer = this.#peers.get(address) ?? new ServicesPeer(address);
    this.#peers.set(address, peer);
    return peer;
  }

  /** The addresses of services in random order, silent ones last. */
  readonly #lookup: LookupFunction = (name, options, callback) =>
    lookupServices(name, options, (error, addresses, family) => {
      if (error || typeof addresses === 'string') return callback(error, addresses, family);
      this.#addresses = addresses.map(({ address }) => address);
      for (const peer of this.#peers.values())
        if (!this.#addresses.includes(peer.address)) this.#forget(peer);
      const isSilent = ({ address }: { address: string }) => this.#peers.get(address)?.isSilent ?? false;
      callback(null, [...addresses.filter((each) => !isSilent(each)), ...addresses.filter(isSilent)]);
    });

  /** Stops probing an address that the name no longer has. */
  #forget(peer: ServicesPeer): void {
    peer.isSilent = false;
    peer.probe?.destroy();
    if (!peer.isConnected && !peer.probing) this.#peers.delete(peer.address);
  }

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
        if (isTimeout(error) && attempted) this.#passOver(this.#peerAt(attempted));
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
        .on('connectionAttemptTimeout', (address) => this.#markSilent(this.#peerAt(address)));
    });
  }

  #track(socket: Socket, address: string): Socket {
    const peer = this.#peerAt(address);
    peer.isSilent = false;
    peer.add(socket);
    this.#checking ??= setInterval(() => this.#check(), CHECK_MS).unref();
    return socket;
  }

  #check(): void {
    const peers = [...this.#peers.values()];
    if (!peers.some(({ isConnected }) => isConnected)) {
      clearInterval(this.#checking);
      this.#checking = undefined;
      for (const { probe } of peers) probe?.destroy();
      return;
    }
    for (const peer of peers) {
      const isQuiet = peer.check();
      const hasOthers = this.#addresses.some((address) => address !== peer.address);
      if (hasOthers && (isQuiet || peer.isSilent)) void this.#probe(peer);
    }
  }

  /** Returns whether an address answers a probe. Concurrent probes are one. */
  #probe(peer: ServicesPeer): Promise<boolean> {
    peer.probing ??= this.#probeOnce(peer).finally(() => {
      peer.probing = undefined;
    });
    return peer.probing;
  }

  async #probeOnce(peer: ServicesPeer): Promise<boolean> {
    const result = await this.#resultOfProbe(peer);
    if (result === 'SILENT') this.#passOver(peer);
    const answers = result === 'OPEN' || result === 'CLOSING';
    if (answers) peer.isSilent = false;
    return answers;
  }

  async #resultOfProbe(peer: ServicesPeer): Promise<ProbeResult> {
    try {
      const probe = peer.probe ?? (await this.#openProbe(peer));
      const result = await probeConnection(probe, this.#probeTarget, ANSWER_MS);
      if (result !== 'OPEN') probe.destroy();
      return result;
    } catch (error) {
      return isTimeout(error) ? 'SILENT' : 'CLOSED';
    }
  }

  async #openProbe(peer: ServicesPeer): Promise<Socket> {
    const probe = await this.#connectTo(peer.address);
    peer.probe = probe;
    return probe.unref().once('close', () => {
      peer.probe = undefined;
    });
  }

  #markSilent(peer: ServicesPeer): void {
    if (!peer.isSilent) silences.inc();
    peer.isSilent = true;
  }

  /** Ends the connections to an address that did not answer, if nothing arrives on them and another address answers. */
  #passOver(peer: ServicesPeer): void {
    this.#markSilent(peer);
    if (!peer.isQuiet) return;
    for (const other of this.#addresses.map((address) => this.#peerAt(address))) {
      if (other.isSilent) continue;
      void this.#answers(other).then((answers) => {
        if (answers && peer.isQuiet && peer.isSilent) peer.end(timedOut(peer.address));
      });
    }
  }

  async #answers(peer: ServicesPeer): Promise<boolean> {
    return (peer.isConnected && !peer.isQuiet) || this.#probe(peer);
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
