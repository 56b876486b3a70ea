import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import { type CertificatePair, issueCertificate } from '../../local/certificates.ts';

/** A proxy on loopback that speaks TLS, and passes on only what clients with a certificate of the authority send. */
export interface MutualTlsProxy extends AsyncDisposable {
  /** `host:port`. */
  readonly address: string;
  /** SHA-256 fingerprints of the client certificates that it has accepted. */
  readonly clients: ReadonlySet<string>;
}

export async function startMutualTlsProxy(
  upstreamPort: number,
  authority: CertificatePair,
): Promise<MutualTlsProxy> {
  const { certificatePem, privateKeyPem } = await issueCertificate(authority, { names: ['localhost'] });
  const sockets = new Set<Socket>();
  const clients = new Set<string>();
  const server = createServer(
    {
      cert: certificatePem,
      key: privateKeyPem,
      ca: authority.certificatePem,
      requestCert: true,
      rejectUnauthorized: true,
      ALPNProtocols: ['h2'],
    },
    (client) => {
      clients.add(client.getPeerCertificate().fingerprint256);
      const upstream = connect(upstreamPort, '127.0.0.1');
      for (const [end, otherEnd] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        sockets.add(end);
        end
          .on('error', () => {})
          .on('close', () => {
            sockets.delete(end);
            otherEnd.destroy();
          })
          .pipe(otherEnd);
      }
    },
  ).on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `localhost:${(server.address() as AddressInfo).port}`,
    clients,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
