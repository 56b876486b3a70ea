import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { CertificatePair } from '../../local/certificates.ts';
import { type Listening, listen } from './tls-receiver.ts';

export interface ConnectProxy extends Listening {
  /** What CONNECT asked for, as `93.184.215.14:443`. */
  readonly targets: string[];
  readonly headers: IncomingHttpHeaders[];
  /** The names that TLS connections asked for; false for none. */
  readonly serverNames: (string | false | null)[];
}

export interface ConnectProxyOptions {
  /** Where tunnels end, whatever the target: the port of a receiver on loopback. */
  readonly tunnelTo?: number;
  /** Refuse with this status; `refuseFirst` only this many. */
  readonly refuseWith?: number;
  readonly refuseFirst?: number;
  /** Makes it an https proxy. */
  readonly certificate?: CertificatePair;
}

/** A forward proxy on loopback. */
export async function startConnectProxy(options: ConnectProxyOptions): Promise<ConnectProxy> {
  const targets: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = options.certificate
    ? createHttpsServer({ cert: options.certificate.certificatePem, key: options.certificate.privateKeyPem })
    : createHttpServer();
  const serverNames: (string | false | null)[] = [];
  server.on('secureConnection', ({ servername }: TLSSocket) => serverNames.push(servername));
  server.on('connect', (request, socket: Socket) => {
    targets.push(request.url ?? '');
    headers.push(request.headers);
    socket.on('error', () => {});
    const { refuseWith, refuseFirst = Number.POSITIVE_INFINITY } = options;
    if (refuseWith !== undefined && targets.length <= refuseFirst) {
      socket.end(`HTTP/1.1 ${refuseWith} Refused\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const upstream = connect({ port: options.tunnelTo ?? 0, host: '127.0.0.1' }, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('close', () => upstream.destroy());
  });
  return Object.assign(await listen(server, '127.0.0.1'), { targets, headers, serverNames });
}
