import { Code, type ConnectError } from '@connectrpc/connect';
import { callError, errorInfoOf } from './connect-errors.ts';

/** What Connect refuses before a service is reached, by its text, with the code that it should have if that is another. */
const BY_TEXT: readonly (readonly [text: RegExp, reason: string, code?: Code])[] = [
  [
    /^(parse binary|received compressed envelope|decompression failed)/,
    'INVALID_REQUEST',
    Code.InvalidArgument,
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
 * The error with an ErrorInfo, if it has none: refusals of Connect itself, such as a message that it cannot decode, say
 * nothing but their text, and call some faults of the caller internal errors. The reasons are named as the codes of the
 * public API.
 */
export function withReason(error: ConnectError): ConnectError {
  if (errorInfoOf(error)) return error;
  const { code, rawMessage } = error;
  const [, reason = BY_CODE[code] ?? 'INTERNAL_ERROR', corrected = code] =
    BY_TEXT.find(([text]) => text.test(rawMessage)) ?? [];
  return callError(corrected, reason, rawMessage, error.cause);
}
