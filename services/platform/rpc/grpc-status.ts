import type { ConnectError } from '@connectrpc/connect';
import { setTrailerStatus } from '@connectrpc/connect/protocol-grpc';

/** What encodeURIComponent encodes but gRPC does not: printable ASCII, except the space, which may lead or end a message. */
const PRINTABLE = /%(?:2[1-46-9A-F]|[3-6][0-9A-F]|7[0-9A-E])/g;

/**
 * Sets the status of a failed call over gRPC or gRPC-Web. Connect also encodes punctuation in the message, which clients
 * that decode it like a URL, such as grpc-js, do not decode.
 */
export function setGrpcStatus(headers: Headers, error: ConnectError): Headers {
  setTrailerStatus(headers, error);
  const message = headers.get('grpc-message') ?? '';
  headers.set('grpc-message', message.replaceAll(PRINTABLE, decodeURIComponent));
  return headers;
}
