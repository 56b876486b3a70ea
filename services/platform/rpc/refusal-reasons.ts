import { Code, type ConnectError } from '@connectrpc/connect';
import { callError, errorInfoOf } from './connect-errors.ts';

/** Connect's own refusals by their text, with the correct code or a clear message if Connect uses another. */
const BY_TEXT: readonly (readonly [text: RegExp, reason: string, code?: Code, message?: string])[] = [
  [
    /^(parse binary|received compressed envelope|decompression failed)/,
    'INVALID_REQUEST',
    Code.InvalidArgument,
  ],
  [
    /^timeout \d+ms must be/,
    'INVALID_REQUEST',
    Code.InvalidArgument,
    'the deadline may be at most 60 seconds away',
  ],
  [/^unknown compression/, 'UNSUPPORTED_MEDIA_TYPE'],
  [/^protocol error/, 'INVALID_REQUEST'],
];

const BY_CODE: Readonly<Partial<Record<Code, string>>> = {
  [Code.InvalidArgument]: 'INVALID_REQUEST',
  [Code.ResourceExhausted]: 'PAYLOAD_TOO_LARGE',
  [Code.Unimplemented]: 'ROUTE_NOT_FOUND',
  [Code.DeadlineExceeded]: 'DEADLINE_EXCEEDED',
  [Code.Canceled]: 'CALL_CANCELED',
  [Code.Unavailable]: 'SERVICE_UNAVAILABLE',
};

/**
 * Adds an ErrorInfo to an error without one. Connect's own refusals, such as of a message that it cannot decode, have
 * only a text, and report some faults of the caller as internal errors. The reasons have the names of public API
 * codes.
 */
export function withReason(error: ConnectError): ConnectError {
  if (errorInfoOf(error)) return error;
  const { code, rawMessage } = error;
  const [, reason = BY_CODE[code] ?? 'INTERNAL_ERROR', corrected = code, message = rawMessage] =
    BY_TEXT.find(([text]) => text.test(rawMessage)) ?? [];
  return callError(corrected, reason, message, error.cause);
}
