/** The classification of a domain error, named after the gRPC status codes. */
export type ErrorKind =
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

export interface FieldFault {
  /** Path of the field, in proto names; empty for the request as a whole. */
  readonly field: string;
  /** The requirement, for people: `must be a UUID`. */
  readonly must: string;
  /** What a program may branch on. Default: INVALID_ARGUMENT. */
  readonly reason?: string;
}

/**
 * An error that the caller can act on. `reason` is UPPER_SNAKE_CASE and unique in this system, `metadata` carries the
 * offending state or value, `message` is for people. Domain rules throw it; platform/rpc/connect-errors.ts maps it to the
 * wire. A broken invariant is a plain Error instead: it is logged, and callers see an internal error.
 */
export class DomainError extends Error {
  readonly kind: ErrorKind;
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** All faults of the request, if the error names several. */
  readonly faults: readonly FieldFault[];

  constructor(
    kind: ErrorKind,
    reason: string,
    message: string,
    metadata: Record<string, string> = {},
    faults: readonly FieldFault[] = [],
  ) {
    super(message);
    this.name = 'DomainError';
    this.kind = kind;
    this.reason = reason;
    this.metadata = metadata;
    this.faults = faults;
  }
}

type DomainErrorFactory = (reason: string, message: string, metadata?: Record<string, string>) => DomainError;
const errorOfKind =
  (kind: ErrorKind): DomainErrorFactory =>
  (reason, message, metadata) =>
    new DomainError(kind, reason, message, metadata);

export const invalidArgument = errorOfKind('INVALID_ARGUMENT');
export const notFound = errorOfKind('NOT_FOUND');
export const alreadyExists = errorOfKind('ALREADY_EXISTS');
export const failedPrecondition = errorOfKind('FAILED_PRECONDITION');
export const resourceExhausted = errorOfKind('RESOURCE_EXHAUSTED');
export const outOfRange = errorOfKind('OUT_OF_RANGE');
export const aborted = errorOfKind('ABORTED');
export const unauthenticated = errorOfKind('UNAUTHENTICATED');
export const permissionDenied = errorOfKind('PERMISSION_DENIED');
export const unavailable = errorOfKind('UNAVAILABLE');

/** UNAVAILABLE (DATABASE_UNAVAILABLE). */
export const databaseUnavailable = (): DomainError =>
  unavailable('DATABASE_UNAVAILABLE', 'the database cannot be reached or is busy; try again');

/** The message of an error with its causes: `migration 0001_platform.sql failed: permission denied …`. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join(', ');
  return error.cause === undefined ? error.message : `${error.message}: ${messageOf(error.cause)}`;
}
