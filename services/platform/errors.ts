import { Code, ConnectError } from '@connectrpc/connect';
import { ErrorInfoSchema } from '../../proto/gen/google/rpc/error_details_pb.js';

const ERROR_DOMAIN = 'payments';

/**
 * A refusal with a name: what an RPC's caller may learn and act on. `reason` is UPPER_SNAKE_CASE and unique within
 * the domain, `metadata` carries the state or the value at fault, `message` is for people.
 */
export class DomainError extends Error {
  readonly code: Code;
  readonly reason: string;
  readonly metadata: Record<string, string>;

  constructor(code: Code, reason: string, message: string, metadata: Record<string, string> = {}) {
    super(message);
    this.name = 'DomainError';
    this.code = code;
    this.reason = reason;
    this.metadata = metadata;
  }
}

type Refusal = (reason: string, message: string, metadata?: Record<string, string>) => DomainError;
const refusal =
  (code: Code): Refusal =>
  (reason, message, metadata) =>
    new DomainError(code, reason, message, metadata);

export const invalidArgument = refusal(Code.InvalidArgument);
export const notFound = refusal(Code.NotFound);
export const alreadyExists = refusal(Code.AlreadyExists);
export const failedPrecondition = refusal(Code.FailedPrecondition);
export const resourceExhausted = refusal(Code.ResourceExhausted);
export const outOfRange = refusal(Code.OutOfRange);
export const aborted = refusal(Code.Aborted);
export const unauthenticated = refusal(Code.Unauthenticated);
export const permissionDenied = refusal(Code.PermissionDenied);
export const unavailable = refusal(Code.Unavailable);

/** The ErrorInfo of an RPC's failure, on either side of the wire; undefined where there is none. */
export function errorInfoOf(error: unknown) {
  return error instanceof ConnectError ? error.findDetails(ErrorInfoSchema)[0] : undefined;
}

/** The one mapping from a named refusal to the wire. */
export function toConnectError(error: DomainError): ConnectError {
  const details = [
    {
      desc: ErrorInfoSchema,
      value: { reason: error.reason, domain: ERROR_DOMAIN, metadata: error.metadata },
    },
  ];
  return new ConnectError(error.message, error.code, undefined, details, error);
}
