import { Code, ConnectError } from '@connectrpc/connect';
import { BadRequestSchema, ErrorInfoSchema } from '../../../proto/gen/google/rpc/error_details_pb.js';
import { DomainError, type ErrorKind } from '../errors.ts';
import { faultsOf } from '../request-faults.ts';

const ERROR_DOMAIN = 'payments';

const errorInfo = (reason: string, metadata: Record<string, string> = {}) => ({
  desc: ErrorInfoSchema,
  value: { reason, domain: ERROR_DOMAIN, metadata },
});

/** An error that is not a domain error: the transport refused the call, or it failed. */
export const callError = (code: Code, reason: string, message: string, cause?: unknown): ConnectError =>
  new ConnectError(message, code, undefined, [errorInfo(reason)], cause);

/** A failure on our side, whose cause callers do not see. The id of the request, if given, leads to it in the log. */
export function internalError(cause?: unknown, requestId?: string): ConnectError {
  const info = errorInfo('INTERNAL_ERROR', requestId === undefined ? {} : { requestId });
  return new ConnectError('internal error', Code.Internal, undefined, [info], cause);
}

const CODES: Readonly<Record<ErrorKind, Code>> = {
  INVALID_ARGUMENT: Code.InvalidArgument,
  NOT_FOUND: Code.NotFound,
  ALREADY_EXISTS: Code.AlreadyExists,
  FAILED_PRECONDITION: Code.FailedPrecondition,
  RESOURCE_EXHAUSTED: Code.ResourceExhausted,
  OUT_OF_RANGE: Code.OutOfRange,
  ABORTED: Code.Aborted,
  UNAUTHENTICATED: Code.Unauthenticated,
  PERMISSION_DENIED: Code.PermissionDenied,
  UNAVAILABLE: Code.Unavailable,
};

/**
 * Maps a domain error to the wire: its status code, an ErrorInfo with its reason and metadata, and a BadRequest with the
 * fields of the request that are at fault, if any.
 */
export function toConnectError(error: DomainError): ConnectError {
  const info = errorInfo(error.reason, error.metadata);
  const fieldViolations = faultsOf(error).map(({ field, must, reason = 'INVALID_ARGUMENT' }) => ({
    field,
    description: must,
    reason,
  }));
  const details =
    fieldViolations.length === 0 ? [info] : [info, { desc: BadRequestSchema, value: { fieldViolations } }];
  return new ConnectError(error.message, CODES[error.kind], undefined, details, error);
}

/** A domain error as it goes over the wire; any other error as it is. */
export const onTheWire = (error: unknown): unknown =>
  error instanceof DomainError ? toConnectError(error) : error;

/** The ErrorInfo of a failed call, on either side of the wire; undefined for a failure without one. */
export function errorInfoOf(error: unknown) {
  return error instanceof ConnectError ? error.findDetails(ErrorInfoSchema)[0] : undefined;
}

/** The result of a call, or the one that a refusal for one of these reasons stands for. Other errors are thrown. */
export function unlessRefused<Result, Instead>(
  call: Promise<Result>,
  refusals: Readonly<Record<string, Instead>>,
): Promise<Result | Instead> {
  return call.catch((error: unknown) => {
    const { reason = '' } = errorInfoOf(error) ?? {};
    if (!Object.hasOwn(refusals, reason)) throw error;
    return refusals[reason]!;
  });
}

/** The fields at fault in a refused request, with paths in proto names, on either side of the wire. */
export function fieldViolationsOf(error: ConnectError) {
  return error.findDetails(BadRequestSchema)[0]?.fieldViolations ?? [];
}
