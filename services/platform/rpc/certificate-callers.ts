import { unauthenticated } from '../errors.ts';
import type { CertificateCaller } from '../process/setting-parsers.ts';
import type { Caller } from './call-context.ts';
import type { PeerCertificate } from './peer-certificate.ts';

export type FindCertificateCaller = (peer: PeerCertificate) => Caller;

/**
 * Finds callers by the only URI in the subject alternative name of their certificate. UNAUTHENTICATED
 * (CERTIFICATE_UNKNOWN, or CERTIFICATE_EXPIRED on a connection that has outlived the certificate).
 */
export function certificateCallers(callers: readonly CertificateCaller[]): FindCertificateCaller {
  const byUri = new Map(callers.map(({ uri, name, grants }) => [uri, { name, grants: new Set(grants) }]));
  return (peer) => {
    const [uri = '', ...others] = peer.uris;
    const caller = others.length === 0 ? byUri.get(uri) : undefined;
    if (!caller) {
      const message = 'the client certificate names no caller, and the call has no token';
      throw unauthenticated('CERTIFICATE_UNKNOWN', message, { uri: peer.uris.join(' ') });
    }
    requireCurrent(peer);
    return { ...caller, requireValid: async () => requireCurrent(peer) };
  };
}

function requireCurrent({ expiryMs }: PeerCertificate): void {
  if (expiryMs > Date.now()) return;
  throw unauthenticated('CERTIFICATE_EXPIRED', 'the client certificate has expired');
}
