import { DomainError, type FieldFault } from './errors.ts';

/** Errors travel in trailers, for which clients allow as little as 8 KiB. */
const MAX_FAULTS = 16;

/**
 * INVALID_ARGUMENT that names all faults of a request, 16 at most. Its reason, and the field in its metadata, are those
 * of the first.
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
