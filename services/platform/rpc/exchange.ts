import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Code, ConnectError } from '@connectrpc/connect';
import { callError, internalError } from './connect-errors.ts';
import { withReason } from './refusal-reasons.ts';

/** What the port accepts, and when it compresses. */
export interface ExchangeLimits {
  readonly readMaxBytes: number;
  readonly compressMinBytes: number;
  readonly maxTimeoutMs: number;
  /** How long the message of a request may take to arrive. */
  readonly bodyTimeoutMs: number;
}

/** One request as its protocol carries it. */
export interface Exchange {
  readonly protocolName: 'grpc' | 'connect';
  /** Protobuf; false for JSON. */
  readonly isBinary: boolean;
  readonly headers: IncomingHttpHeaders;
  readonly timeout: { readonly timeoutMs?: number; readonly error?: ConnectError };
  /** Reads the message of the request. Throws ConnectError. */
  read(): Promise<Uint8Array>;
  /** Calls back if the caller disconnects before the answer. */
  onDisconnect(listener: () => void): void;
}

/** A response, still without its protocol. */
export interface Answer {
  readonly message: Uint8Array;
  readonly headers: Headers | undefined;
}

/** Answers a request. Throws ConnectError. */
export type AnswerUnary = (exchange: Exchange) => Promise<Answer>;

/** The error as callers see it. */
export const connectErrorOf = (error: unknown): ConnectError =>
  error instanceof ConnectError ? withReason(error) : internalError(error);

/** The message of a request has not arrived in time. */
export const lateMessage = (timeoutMs: number): ConnectError =>
  callError(Code.DeadlineExceeded, 'REQUEST_TIMEOUT', `the message has not arrived within ${timeoutMs} ms`);

/**
 * The body of a request. RESOURCE_EXHAUSTED if it is longer; DEADLINE_EXCEEDED if it has not arrived in time; CANCELED if
 * the caller disconnects.
 */
export function readBody(stream: Readable, maxBytes: number, timeoutMs: number): Promise<Buffer> {
  // An empty body has ended before anyone reads it.
  if (stream.readableEnded) return Promise.resolve(Buffer.alloc(0));
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
      // It closes after each answer too; an error takes its stack trace.
      if (stream.readableEnded) return;
      reject(callError(Code.Canceled, 'CALL_CANCELED', 'the caller has disconnected'));
    });
  });
}

/** Whether a caller accepts gzip, by its header. */
export const acceptsGzip = (header: string | string[] | undefined): boolean =>
  header
    ?.toString()
    .split(',')
    .some((name) => name.trim() === 'gzip') ?? false;
