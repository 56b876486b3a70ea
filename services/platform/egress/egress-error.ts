import { errors } from 'undici';

/**
 * Why no connection came about.
 * - EGRESS_DENIED: the guard refused the host, the port or an address.
 * - DNS: the name has no address, or no answer came in time.
 * - CONNECT_TIMEOUT: no TCP and TLS connection within the limit.
 * - PROXY: the egress proxy could not be reached, or opened no tunnel.
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
 * A connection that did not come about. The message may name addresses: for logs, never for a merchant.
 * It has no `code` on purpose: undici dials for ever after some codes of its own.
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

/** Names a failure of the operating system while dialling. */
export function fromSystemError(error: unknown): EgressError {
  const code = codeOf(error);
  const message = `dialling failed: ${code ?? String(error)}`;
  if (code === 'ECONNREFUSED') return new EgressError('CONNECTION_REFUSED', message, { cause: error });
  if (code === 'ETIMEDOUT') return new EgressError('CONNECT_TIMEOUT', message, { cause: error });
  if (isReset(code)) return new EgressError('CONNECTION_RESET', message, { cause: error });
  return new EgressError('UNREACHABLE', message, { cause: error });
}

/** The `code` of a node, OpenSSL or undici error. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** True for the codes of a peer that broke the connection off. */
export function isReset(code: string | undefined): boolean {
  return code !== undefined && RESET_CODES.has(code);
}

/** True when what a peer sent is not HTTP/1.1. */
export function isNotHttp(error: unknown): boolean {
  return error instanceof errors.HTTPParserError;
}
