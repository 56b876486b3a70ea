import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Readable } from 'node:stream';
import { Code, ConnectError } from '@connectrpc/connect';
import { callError, internalError } from './connect-errors.ts';
import { withReason } from './refusal-reasons.ts';

/** The port's limits on requests, and when it compresses responses. */
export interface ExchangeLimits {
  readonly readMaxBytes: number;
  readonly compressMinBytes: number;
  readonly maxTimeoutMs: number;
  /** The time within which the message of a request must arrive. */
  readonly bodyTimeoutMs: number;
}

/**
 * Refuses unknown fields and enum names: a misspelled filter would otherwise list everything, and a misspelled outcome
 * of a dispute would mean another one.
 */
export const JSON_OPTIONS = { ignoreUnknownFields: false };

/** One request in the form of its protocol. */
export interface Exchange {
  readonly protocolName: 'grpc' | 'connect';
  /** Protobuf; false for JSON. */
  readonly isBinary: boolean;
  readonly headers: IncomingHttpHeaders;
  readonly timeout: { readonly timeoutMs?: number; readonly error?: ConnectError };
  readonly acceptsGzip: boolean;
  /** It closes after the answer, or when the caller disconnects before. */
  readonly response: ServerResponse | ServerHttp2Stream;
  /** Reads the message of the request. Throws ConnectError. */
  read(): Promise<Uint8Array>;
}

/** A response, independent of the protocol. */
export interface Answer {
  readonly message: Uint8Array;
  /** Whether the message is compressed with gzip. */
  readonly isCompressed: boolean;
  readonly headers: Headers | undefined;
}

/** Answers a request. Throws ConnectError. */
export type AnswerUnary = (exchange: Exchange) => Promise<Answer>;

/** The error as callers see it. */
export const connectErrorOf = (error: unknown): ConnectError =>
  error instanceof ConnectError ? withReason(error) : internalError(error);

/** DEADLINE_EXCEEDED: the message of a request did not arrive in time. */
export const lateMessage = (timeoutMs: number): ConnectError =>
  callError(Code.DeadlineExceeded, 'REQUEST_TIMEOUT', `the message has not arrived within ${timeoutMs} ms`);

/**
 * The body of a request. RESOURCE_EXHAUSTED if it is longer; DEADLINE_EXCEEDED if it has not arrived in time; CANCELED if
 * the caller disconnects.
 */
export function readBody(stream: Readable, maxBytes: number, timeoutMs: number): Promise<Buffer> {
  // An empty body has already ended.
  if (stream.readableEnded) return Promise.resolve(Buffer.alloc(0));
  // No event follows if the caller disconnected while it was identified.
  if (stream.destroyed) return Promise.reject(disconnected());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => reject(lateMessage(timeoutMs)), timeoutMs);
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else {
        stream.off('data', onData).pause();
        reject(callError(Code.ResourceExhausted, 'PAYLOAD_TOO_LARGE', `more than ${maxBytes} bytes`));
      }
    };
    stream.on('data', onData);
    stream.once('end', () => {
      clearTimeout(timer);
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
    stream.once('close', () => {
      clearTimeout(timer);
      // The stream also closes after each answer; skip the cost of an error with its stack trace.
      if (stream.readableEnded) return;
      reject(disconnected());
    });
  });
}

const disconnected = () => callError(Code.Canceled, 'CALL_CANCELED', 'the caller has disconnected');

/** Whether this header accepts gzip. */
export const acceptsGzip = (header: string | string[] | undefined): boolean =>
  header
    ?.toString()
    .split(',')
    .some((name) => name.trim() === 'gzip') ?? false;
