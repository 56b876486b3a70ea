import { Code, ConnectError } from '@connectrpc/connect';
import { ErrorInfoSchema } from '../../../proto/gen/google/rpc/error_details_pb.js';
import type { DomainError, ErrorKind } from '../errors.ts';

const ERROR_DOMAIN = 'payments';

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

/** Maps a domain error to the wire: its status code, and an ErrorInfo with its reason and metadata. */
export function toConnectError(error: DomainError): ConnectError {
  const { reason, metadata } = error;
  const details = [{ desc: ErrorInfoSchema, value: { reason, domain: ERROR_DOMAIN, metadata } }];
  return new ConnectError(error.message, CODES[error.kind], undefined, details, error);
}

/** The ErrorInfo of a failed call, on either side of the wire; undefined for a failure without one. */
export function errorInfoOf(error: unknown) {
  return error instanceof ConnectError ? error.findDetails(ErrorInfoSchema)[0] : undefined;
}
