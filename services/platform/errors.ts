/** How a refusal is classified, by the names that gRPC gives to its status codes. */
export type RefusalKind =
  | 'INVALID_ARGUMENT'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'FAILED_PRECONDITION'
  | 'RESOURCE_EXHAUSTED'
  | 'OUT_OF_RANGE'
  | 'ABORTED'
  | 'UNAUTHENTICATED'
  | 'PERMISSION_DENIED'
  | 'UNAVAILABLE';

/**
 * A refusal that the caller can act on. `reason` is UPPER_SNAKE_CASE and unique within this system, `metadata` carries
 * the state or the value at fault, `message` is for people. Rules throw it; platform/rpc/connect-errors.ts maps it to
 * the wire. A broken invariant is a plain Error instead: it is logged, and callers see an internal error.
 */
export class DomainError extends Error {
  readonly kind: RefusalKind;
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;

  constructor(kind: RefusalKind, reason: string, message: string, metadata: Record<string, string> = {}) {
    super(message);
    this.name = 'DomainError';
    this.kind = kind;
    this.reason = reason;
    this.metadata = metadata;
  }
}

type Refusal = (reason: string, message: string, metadata?: Record<string, string>) => DomainError;
const refusal =
  (kind: RefusalKind): Refusal =>
  (reason, message, metadata) =>
    new DomainError(kind, reason, message, metadata);

export const invalidArgument = refusal('INVALID_ARGUMENT');
export const notFound = refusal('NOT_FOUND');
export const alreadyExists = refusal('ALREADY_EXISTS');
export const failedPrecondition = refusal('FAILED_PRECONDITION');
export const resourceExhausted = refusal('RESOURCE_EXHAUSTED');
export const outOfRange = refusal('OUT_OF_RANGE');
export const aborted = refusal('ABORTED');
export const unauthenticated = refusal('UNAUTHENTICATED');
export const permissionDenied = refusal('PERMISSION_DENIED');
export const unavailable = refusal('UNAVAILABLE');
