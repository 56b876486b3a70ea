import { errors } from 'undici';

/**
 * Why a connection failed.
 * - EGRESS_DENIED: the guard rejected the host, the port or an address.
 * - DNS: the name has no address, or DNS did not respond in time.
 * - CONNECT_TIMEOUT: no TCP and TLS connection within the time limit.
 * - PROXY: the egress proxy could not be reached or did not open a tunnel.
 */
export type EgressFailureKind =
  | 'EGRESS_DENIED'
  | 'DNS'
  | 'CONNECT_TIMEOUT'
  | 'CONNECTION_REFUSED'
  | 'CONNECTION_RESET'
  | 'UNREACHABLE'
  | 'TLS'
  | 'PROXY';

/**
 * A failed connection. The message may name addresses: for logs, never for merchants.
 * It deliberately has no `code`: undici redials forever after some codes.
 */
export class EgressError extends Error {
  readonly kind: EgressFailureKind;

  constructor(kind: EgressFailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EgressError';
    this.kind = kind;
  }
}

const RESET_CODES = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);

/** Classifies an operating system error while dialing. */
export function fromSystemError(error: unknown): EgressError {
  const code = codeOf(error);
  const message = `dialing failed: ${code ?? String(error)}`;
  if (code === 'ECONNREFUSED') return new EgressError('CONNECTION_REFUSED', message, { cause: error });
  if (code === 'ETIMEDOUT') return new EgressError('CONNECT_TIMEOUT', message, { cause: error });
  if (isReset(code)) return new EgressError('CONNECTION_RESET', message, { cause: error });
  return new EgressError('UNREACHABLE', message, { cause: error });
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

/** Whether the peer sent something other than HTTP/1.1. */
export function isNotHttp(error: unknown): boolean {
  return error instanceof errors.HTTPParserError;
}
