import { codeOf, EgressError, type EgressFailureKind, isReset } from './egress-error.ts';

/** The codes of Node.js and OpenSSL for rejected certificates and for an answer without TLS. */
const KINDS: Readonly<Record<string, EgressFailureKind>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: 'NOT_TLS',
  ERR_SSL_HTTP_REQUEST: 'NOT_TLS',
  ERR_TLS_CERT_ALTNAME_INVALID: 'CERTIFICATE_WRONG_NAME',
  CERT_HAS_EXPIRED: 'CERTIFICATE_EXPIRED',
  CERT_NOT_YET_VALID: 'CERTIFICATE_NOT_YET_VALID',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'CERTIFICATE_SELF_SIGNED',
  // A private authority that sends its own certificate along.
  SELF_SIGNED_CERT_IN_CHAIN: 'CERTIFICATE_UNKNOWN_ISSUER',
  UNABLE_TO_GET_ISSUER_CERT: 'CERTIFICATE_UNKNOWN_ISSUER',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'CERTIFICATE_UNKNOWN_ISSUER',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'CERTIFICATE_UNKNOWN_ISSUER',
  CERT_UNTRUSTED: 'CERTIFICATE_UNKNOWN_ISSUER',
};

/** Classifies an error during the TLS handshake. */
export function fromTlsError(error: unknown): EgressError {
  const code = codeOf(error);
  const kind = isReset(code) ? 'CONNECTION_RESET' : (KINDS[code ?? ''] ?? 'TLS');
  const certificateNames = kind === 'CERTIFICATE_WRONG_NAME' ? certificateNamesOf(error) : undefined;
  return new EgressError(kind, `TLS failed: ${code ?? String(error)}`, {
    cause: error,
    ...(certificateNames && { certificateNames }),
  });
}

const MAX_NAMES_LENGTH = 300;

/** `other.example.com, *.example.org`: the names in the certificate, without unprintable characters. */
function certificateNamesOf(error: unknown): string {
  const certificate = error instanceof Error && 'cert' in error ? error.cert : undefined;
  const names =
    typeof certificate === 'object' && certificate !== null && 'subjectaltname' in certificate
      ? String(certificate.subjectaltname)
      : '';
  return names
    .replaceAll(/\b(DNS|IP Address):/g, '')
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .slice(0, MAX_NAMES_LENGTH);
}
