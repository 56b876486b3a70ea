import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { serviceUnavailable } from '../problems/rpc-problems.ts';

export interface StreamMessage {
  readonly event: string;
  readonly data: object;
}

const KEEP_ALIVE = ': keep-alive\n\n';
const END = { done: true, value: undefined } as const;

/**
 * Answers with an event stream (text/event-stream), as fast as the client reads it. The response begins with the
 * first message, so an error before it gets an ordinary error response; a later one ends the stream.
 * @param open the messages; undefined for one that keeps the connection alive. Its signal is aborted when the client
 *   leaves.
 * @param closing is aborted when the server closes, which ends the stream; SERVICE_UNAVAILABLE if it has not begun.
 */
export async function sendEventStream(
  reply: FastifyReply,
  closing: AbortSignal,
  open: (signal: AbortSignal) => AsyncIterable<StreamMessage | undefined>,
): Promise<FastifyReply> {
  const left = new AbortController();
  if (reply.raw.destroyed) left.abort();
  else reply.raw.once('close', () => left.abort());
  const signal = AbortSignal.any([left.signal, closing]);
  const messages = open(signal)[Symbol.asyncIterator]();
  const first = await messages.next().catch((error: unknown) => {
    if (signal.aborted) return END;
    throw error;
  });
  // An empty stream would look like one that was open.
  if (first.done && closing.aborted) throw serviceUnavailable();
  const stream = Readable.from(linesOf(first, messages, reply, signal));
  reply.header('x-accel-buffering', 'no').type('text/event-stream; charset=utf-8');
  return reply.send(stream);
}

async function* linesOf(
  first: IteratorResult<StreamMessage | undefined>,
  messages: AsyncIterator<StreamMessage | undefined>,
  { log, request }: FastifyReply,
  signal: AbortSignal,
): AsyncGenerator<string> {
  try {
    for (let next = first; !next.done; next = await messages.next()) yield lineOf(next.value);
  } catch (error) {
    if (!signal.aborted) log.warn({ err: error, requestId: request.id }, 'an event stream was interrupted');
  }
}

const lineOf = (message: StreamMessage | undefined): string =>
  message ? `event: ${message.event}\ndata: ${JSON.stringify(message.data)}\n\n` : KEEP_ALIVE;
