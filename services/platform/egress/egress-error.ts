import { errors } from 'undici';

/**
 * Why a connection failed.
 * - EGRESS_DENIED: the guard rejected the host, the port or an address.
 * - DNS: the name has no address.
 * - DNS_TIMEOUT, CONNECT_TIMEOUT, TLS_TIMEOUT: the step that was under way when the time limit passed.
 * - NOT_TLS: the peer answered the handshake with something other than TLS, usually plain HTTP.
 * - CERTIFICATE_…: the handshake worked, and the certificate was rejected.
 * - TLS: any other failure of the handshake.
 * - PROXY: the egress proxy could not be reached or did not open a tunnel.
 */
export type EgressFailureKind =
  | 'EGRESS_DENIED'
  | 'DNS'
  | 'DNS_TIMEOUT'
  | 'CONNECT_TIMEOUT'
  | 'CONNECTION_REFUSED'
  | 'CONNECTION_RESET'
  | 'UNREACHABLE'
  | 'NOT_TLS'
  | 'CERTIFICATE_SELF_SIGNED'
  | 'CERTIFICATE_WRONG_NAME'
  | 'CERTIFICATE_EXPIRED'
  | 'CERTIFICATE_NOT_YET_VALID'
  | 'CERTIFICATE_UNKNOWN_ISSUER'
  | 'TLS'
  | 'TLS_TIMEOUT'
  | 'PROXY';

/**
 * A failed connection. The message may name addresses: for logs, never for merchants.
 * It deliberately has no `code`: undici redials forever after some codes.
 */
export class EgressError extends Error {
  readonly kind: EgressFailureKind;
  /** For CERTIFICATE_WRONG_NAME: the names in the certificate, as the peer wrote them. May be shown to merchants. */
  readonly certificateNames: string | undefined;

  constructor(
    kind: EgressFailureKind,
    message: string,
    options?: ErrorOptions & { readonly certificateNames?: string },
  ) {
    super(message, options);
    this.name = 'EgressError';
    this.kind = kind;
    this.certificateNames = options?.certificateNames;
  }
}

const SYSTEM_KINDS: Readonly<Record<string, EgressFailureKind>> = {
  ECONNREFUSED: 'CONNECTION_REFUSED',
  ETIMEDOUT: 'CONNECT_TIMEOUT',
};
const RESET_CODES = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);

/** Classifies an operating system error while dialing. */
export function fromSystemError(error: unknown): EgressError {
  const code = codeOf(error);
  const kind = isReset(code) ? 'CONNECTION_RESET' : (SYSTEM_KINDS[code ?? ''] ?? 'UNREACHABLE');
  return new EgressError(kind, `dialing failed: ${code ?? String(error)}`, { cause: error });
}

/** The `code` of a Node.js, OpenSSL or undici error. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Whether a code means that the peer closed the connection. */
export function isReset(code: string | undefined): boolean {
  return code !== undefined && RESET_CODES.has(code);
}

/** undici's messages, all with the code of a closed connection, for a 100 Continue or a change of protocol. */
const UNASKED_RESPONSES = new Set(['bad response', 'bad upgrade']);

/** Whether the peer sent something other than HTTP/1.1, or an answer that the request did not ask for. */
export function isNotHttp(error: unknown): boolean {
  if (error instanceof errors.SocketError) return UNASKED_RESPONSES.has(error.message);
  return error instanceof errors.HTTPParserError;
}
