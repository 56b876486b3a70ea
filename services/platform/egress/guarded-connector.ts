import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import type { buildConnector } from 'undici';
import { canonicalAddress } from './address-policy.ts';
import type { ConnectionTrace } from './connection-trace.ts';
import { EgressError, fromSystemError } from './egress-error.ts';
import { type EgressProxy, openTunnel } from './egress-proxy.ts';
import { type Host, readHost } from './host.ts';
import type { HostResolver } from './host-resolver.ts';
import { fromTlsError } from './tls-failure.ts';
import type { TlsSessions } from './tls-sessions.ts';
import { isPortAllowed, type PortRange } from './webhook-url.ts';

/** Only the first addresses of a name are dialed, so that DNS records cannot turn this into a port scanner. */
const MAX_ADDRESSES_DIALED = 8;
/** How long to wait for one address before trying the next. */
const NEXT_ADDRESS_AFTER_MS = 1000;

export type Dial = (options: net.TcpNetConnectOpts) => net.Socket;

export interface ConnectorDeps {
  readonly resolveHost: HostResolver;
  readonly allowedPorts: readonly PortRange[];
  /** For name resolution, TCP, proxy and TLS together. */
  readonly connectTimeoutMs: number;
  readonly secureContext: tls.SecureContext;
  readonly sessions: TlsSessions;
  readonly proxy?: EgressProxy | undefined;
  /** Replaces node:net in tests. */
  readonly dial?: Dial | undefined;
}

/** A connector of undici that notes the steps of the connection. */
export type GuardedConnector = (
  options: buildConnector.Options,
  callback: buildConnector.Callback,
  trace: ConnectionTrace,
) => void;

interface Target {
  readonly host: Host;
  readonly port: number;
  readonly addresses: readonly string[];
}

/**
 * Creates the connector of undici pools. Resolving and dialing are one step: exactly the checked addresses are dialed,
 * and the socket's remote address must be one of them before the first byte is sent. The callback receives an
 * EgressError, or a TLS socket whose peer has proved the host's name.
 */
export function createGuardedConnector(deps: ConnectorDeps): GuardedConnector {
  const { sessions } = deps;

  async function connect(
    { protocol, hostname, port }: buildConnector.Options,
    trace: ConnectionTrace,
  ): Promise<tls.TLSSocket> {
    const signal = AbortSignal.timeout(deps.connectTimeoutMs);
    const target = await checkTarget(deps, protocol, hostname, Number(port || 443), signal);
    trace.begin('CONNECT');
    const plain = deps.proxy
      ? await tunnel(deps.proxy, target, signal)
      : await dial(target, signal, deps.dial);
    trace.begin('TLS');
    const origin = `${hostname}:${target.port}`;
    const secure = startTls(plain, target.host, deps.secureContext, sessions.get(origin));
    // Node emits it only once the certificate has been checked.
    secure.on('session', (latest: Buffer) => sessions.keep(origin, latest, secure.isSessionReused()));
    try {
      await settle(secure, 'secureConnect', signal);
    } catch (error) {
      // In case resuming the session is what failed.
      sessions.forget(origin);
      throw error;
    }
    trace.begin('OPEN');
    return secure;
  }

  return (options, callback, trace) => {
    connect(options, trace).then(
      (socket) => {
        // undici would keep redialing if it were given a broken socket.
        if (socket.destroyed)
          callback(new EgressError('CONNECTION_RESET', 'closed after the handshake'), null);
        else callback(null, socket);
      },
      (error: Error) => callback(error, null),
    );
  };
}

/** Resolves a destination that the guard allows. */
async function checkTarget(
  { allowedPorts, resolveHost }: Pick<ConnectorDeps, 'allowedPorts' | 'resolveHost'>,
  protocol: string,
  hostname: string,
  port: number,
  signal: AbortSignal,
): Promise<Target> {
  const host = readHost(hostname);
  if (protocol !== 'https:' || host === undefined || !isPortAllowed(allowedPorts, port)) {
    throw new EgressError('EGRESS_DENIED', `${protocol}//${hostname}:${port} is not an allowed destination`);
  }
  const late = once(signal, 'abort').then(() => {
    throw new EgressError('DNS_TIMEOUT', `DNS did not respond for ${hostname} in time`);
  });
  const addresses = await Promise.race([resolveHost(host), late]);
  return { host, port, addresses: addresses.slice(0, MAX_ADDRESSES_DIALED) };
}

async function dial(
  { host, port, addresses }: Target,
  signal: AbortSignal,
  connect: Dial = net.connect,
): Promise<net.Socket> {
  const socket = connect({
    port,
    // Node skips the lookup for an address; for a name, it dials what the lookup returns.
    host: host.kind === 'ADDRESS' ? host.address : host.name,
    lookup: (_name, _options, answer) =>
      answer(
        null,
        addresses.map((address) => ({ address, family: net.isIP(address) })),
      ),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    noDelay: true,
    keepAlive: true,
  });
  await settle(socket, 'connect', signal);
  assertRemoteAddress(socket, addresses);
  return socket;
}

function assertRemoteAddress(socket: net.Socket, checked: readonly string[]): void {
  const remote = socket.remoteAddress;
  if (
    remote !== undefined &&
    checked.some((address) => canonicalAddress(address) === canonicalAddress(remote))
  )
    return;
  socket.destroy();
  if (remote === undefined) throw new EgressError('CONNECTION_RESET', 'closed as soon as connected');
  throw new EgressError('EGRESS_DENIED', `connected to ${remote}, an address that was not checked`);
}

/** Tries the checked addresses in turn. The proxy gets an address, never a name that it would resolve itself. */
async function tunnel(
  proxy: EgressProxy,
  { port, addresses }: Target,
  signal: AbortSignal,
): Promise<net.Socket> {
  let failure: unknown;
  for (const address of addresses) {
    try {
      return await openTunnel(proxy, address, port, signal);
    } catch (error) {
      failure = error;
      if (signal.aborted) throw new EgressError('CONNECT_TIMEOUT', 'the proxy did not open a tunnel in time');
    }
  }
  throw failure;
}

function startTls(
  socket: net.Socket,
  host: Host,
  secureContext: tls.SecureContext,
  session: Buffer | undefined,
): tls.TLSSocket {
  return tls.connect({
    socket,
    secureContext,
    session,
    // The certificate is checked against servername, or host where an address has no server name to send.
    ...(host.kind === 'ADDRESS' ? { host: host.address } : { host: host.name, servername: host.name }),
    ALPNProtocols: ['http/1.1'],
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot disable it.
    rejectUnauthorized: true,
  });
}

/** What failures before an event of the socket mean. */
const FAILURES = {
  connect: { timeout: 'CONNECT_TIMEOUT', errorOf: fromSystemError },
  secureConnect: { timeout: 'TLS_TIMEOUT', errorOf: fromTlsError },
} as const;

/** Waits for the event; if anything else happens first, destroys the socket and throws the classified error. */
async function settle(socket: net.Socket, event: keyof typeof FAILURES, signal: AbortSignal): Promise<void> {
  const { timeout, errorOf } = FAILURES[event];
  // An error while no other listener is attached must not end the process; `destroyed` reveals it.
  socket.on('error', () => {});
  try {
    await once(socket, event, { signal });
  } catch (error) {
    socket.destroy();
    throw signal.aborted ? new EgressError(timeout, `no ${event} in time`) : errorOf(error);
  }
}
