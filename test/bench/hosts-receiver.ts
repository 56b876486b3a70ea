import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { startDnsResponder } from '../support/dns-responder.ts';
import { portOf } from '../support/port-of.ts';

/** What the receiver has counted so far. */
export interface HostsSeen {
  readonly requests: number;
  readonly connections: number;
  /** Connections that resumed a TLS session. */
  readonly resumed: number;
}

/** Where the receiver listens, and the DNS server that has its names. */
export interface HostsReceiver {
  readonly port: number;
  readonly dnsServer: string;
}

/** So short that a name is looked up for each of its deliveries. */
const DNS_TTL_SECONDS = 2;

const { RECEIVER_CERT: cert, RECEIVER_KEY: key } = process.env;
const dns = await startDnsResponder(() => ['127.0.0.1'], DNS_TTL_SECONDS);
const seen = { requests: 0, connections: 0, resumed: 0 };
const server = createServer({ cert, key }, (request, response) => {
  request.resume().once('end', () => {
    seen.requests += 1;
    response.writeHead(204).end();
  });
});
server.on('secureConnection', (socket: TLSSocket) => {
  seen.connections += 1;
  if (socket.isSessionReused()) seen.resumed += 1;
});
server.listen(0, '127.0.0.1');
process.on('message', () => process.send!(seen));
const receiver: HostsReceiver = { port: await portOf(server), dnsServer: dns.server };
process.send!(receiver);
