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

/** A fault of one field of a request. */
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

/** Errors travel in trailers, for which clients allow as little as 8 KiB. */
const MAX_FAULTS = 16;

/**
 * INVALID_ARGUMENT that names all faults of a request, 16 at most. Its reason, and the field in its metadata, are those of the first.
 * @param metadata in addition to the field.
 */
export function invalidFields(
  all: readonly [FieldFault, ...FieldFault[]],
  metadata: Readonly<Record<string, string>> = {},
): DomainError {
  const [{ reason = 'INVALID_ARGUMENT', field }] = all;
  const faults = all.slice(0, MAX_FAULTS);
  const message = faults.map(({ field, must }) => (field === '' ? must : `${field}: ${must}`)).join('; ');
  return new DomainError('INVALID_ARGUMENT', reason, message, { field, ...metadata }, faults);
}

/** The fields at fault in a refused request; empty for errors that name none. */
export function faultsOf({ kind, reason, message, metadata, faults }: DomainError): readonly FieldFault[] {
  const { field } = metadata;
  if (faults.length > 0 || kind !== 'INVALID_ARGUMENT' || field === undefined) return faults;
  return [{ field, must: message.replace(`${field}: `, ''), reason }];
}

type Parsed<Parts extends readonly (() => unknown)[]> = { [I in keyof Parts]: Awaited<ReturnType<Parts[I]>> };

/**
 * Parses independent parts of a request. INVALID_ARGUMENT with the faults of all parts, under the reason and metadata of
 * the first; any other error is thrown as it is.
 */
export function parseAll<Parts extends readonly (() => unknown)[]>(...parts: Parts): Parsed<Parts> {
  const outcomes = parts.map((part) => {
    try {
      return { status: 'fulfilled', value: part() } as const;
    } catch (reason) {
      return { status: 'rejected', reason } as const;
    }
  });
  return valuesOf(outcomes) as Parsed<Parts>;
}

/** Like parseAll, for parts some of which are asynchronous. */
export async function parseAllAsync<Parts extends readonly (() => unknown)[]>(
  ...parts: Parts
): Promise<Parsed<Parts>> {
  return valuesOf(await Promise.allSettled(parts.map(async (part) => part()))) as Parsed<Parts>;
}

function valuesOf(outcomes: readonly PromiseSettledResult<unknown>[]): unknown[] {
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  const [first] = errors;
  if (errors.length === 0) {
    return outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : undefined));
  }
  const other = errors.find((error) => !(error instanceof DomainError && error.kind === 'INVALID_ARGUMENT'));
  if (other !== undefined || errors.length === 1) throw other ?? first;
  const refusals = errors as DomainError[];
  const [fault, ...others] = refusals.flatMap((refusal) => {
    const named = faultsOf(refusal);
    return named.length > 0 ? named : [{ field: '', must: refusal.message, reason: refusal.reason }];
  });
  throw invalidFields([fault!, ...others], (first as DomainError).metadata);
}

/** Throws INVALID_ARGUMENT if there are faults. */
export function requireNoFaults(
  [first, ...others]: readonly FieldFault[],
  metadata?: Readonly<Record<string, string>>,
): void {
  if (first) throw invalidFields([first, ...others], metadata);
}

export const notFound = errorOfKind('NOT_FOUND');
export const alreadyExists = errorOfKind('ALREADY_EXISTS');
export const failedPrecondition = errorOfKind('FAILED_PRECONDITION');
export const resourceExhausted = errorOfKind('RESOURCE_EXHAUSTED');
export const outOfRange = errorOfKind('OUT_OF_RANGE');
export const aborted = errorOfKind('ABORTED');
export const unauthenticated = errorOfKind('UNAUTHENTICATED');
export const permissionDenied = errorOfKind('PERMISSION_DENIED');
export const unavailable = errorOfKind('UNAVAILABLE');
