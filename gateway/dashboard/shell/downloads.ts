import { Readable } from 'node:stream';
import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply } from 'fastify';

export interface Download {
  readonly name: string;
  readonly contentType: string;
  /** Absent when it is known only at the end. */
  readonly sizeBytes?: number;
  /** Reads the content at the browser's pace; not called for a HEAD request. */
  read(): AsyncIterable<Uint8Array | string>;
}

/** Yields what `read` returns for each message of a streaming RPC, which is canceled when the consumer stops. */
export async function* streamed<Message, Value>(
  call: (options: { readonly signal: AbortSignal }) => AsyncIterable<Message>,
  read: (message: Message) => Value,
): AsyncGenerator<Value> {
  const cancel = new AbortController();
  try {
    for await (const message of call({ signal: cancel.signal })) yield read(message);
  } finally {
    cancel.abort();
  }
}

/**
 * Sends a file: to be saved, never shown or run as a page of this host. An error before its first chunk is thrown, a later
 * one closes the connection, so that the browser reports an incomplete download.
 */
export async function sendDownload(reply: FastifyReply, { name, contentType, sizeBytes, read }: Download) {
  const content = reply.request.method === 'HEAD' ? undefined : await started(read());
  reply
    .header('content-disposition', contentDisposition(name))
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('x-content-type-options', 'nosniff')
    .type(contentType);
  if (sizeBytes !== undefined) reply.header('content-length', sizeBytes);
  return reply.send(content && Readable.from(content));
}

/** Content whose first chunk has been read. */
async function started<Chunk>(content: AsyncIterable<Chunk>): Promise<AsyncIterable<Chunk>> {
  const chunks = content[Symbol.asyncIterator]();
  let first: IteratorResult<Chunk> | undefined = await chunks.next();
  const iterator: AsyncIterator<Chunk> = {
    async next() {
      const result = first ?? (await chunks.next());
      first = undefined;
      return result;
    },
    // Not a generator: one that is closed before its first read would not close the content.
    async return() {
      return (await chunks.return?.()) ?? { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
