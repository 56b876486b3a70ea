import type { Http2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type ContextValues, createContextKey } from '@connectrpc/connect';

/** The certificate of a client, after the port has verified it. */
export interface PeerCertificate {
  /** All URIs of its subject alternative name. */
  readonly uris: readonly string[];
  readonly expiryMs: number;
}

/** One name of Node's text for a subject alternative name; a name that contains a comma is in quotes. */
const ALTERNATIVE_NAME = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/gy;

const byConnection = new WeakMap<Socket | Http2Session, PeerCertificate>();
const peerKey = createContextKey<PeerCertificate | undefined>(undefined, { description: 'peer certificate' });

/** Remembers the client's certificate of a connection while the connection exists. */
export function rememberPeer(connection: TLSSocket | Http2Session, socket: TLSSocket): void {
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return;
  byConnection.set(connection, {
    uris: urisIn(certificate.subjectAltName ?? ''),
    expiryMs: certificate.validToDate.getTime(),
  });
}

/** Stores the client's certificate in the values of a call, if its connection has one. */
export function storePeer(values: ContextValues, connection: Socket | Http2Session | undefined): void {
  const peer = connection && byConnection.get(connection);
  if (peer) values.set(peerKey, peer);
}

/** The certificate of the client that makes a call; undefined without mutual TLS. */
export const peerOf = (values: ContextValues): PeerCertificate | undefined => values.get(peerKey);

function urisIn(subjectAltName: string): string[] {
  return [...subjectAltName.matchAll(ALTERNATIVE_NAME)].flatMap(([, type, name = '']) =>
    type === 'URI' ? [name.startsWith('"') ? String(JSON.parse(name)) : name] : [],
  );
}
