/** A message of an event stream; `data` is parsed from JSON. */
export interface StreamMessage {
  readonly event: string;
  readonly data: unknown;
}

const MAX_MESSAGE_CHARACTERS = 4 * 1024 * 1024;

/**
 * Reads a text/event-stream as our gateway writes it: `event` and `data` on a line each, and comments that keep the
 * connection alive. Yields undefined for a comment.
 * @param onBytes called whenever something arrives.
 */
export async function* readEventStream(
  bytes: AsyncIterable<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<StreamMessage | undefined> {
  const decoder = new TextDecoder();
  let pending = '';
  for await (const chunk of bytes) {
    onBytes();
    pending += decoder.decode(chunk, { stream: true });
    const blocks = pending.split('\n\n');
    pending = blocks.pop() ?? '';
    if (pending.length > MAX_MESSAGE_CHARACTERS)
      throw new TypeError('a message of the event stream is too long');
    for (const block of blocks) yield parseBlock(block);
  }
}

function parseBlock(block: string): StreamMessage | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(': ');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2));
  }
  const data = fields.get('data');
  return data === undefined ? undefined : { event: fields.get('event') ?? '', data: JSON.parse(data) };
}
