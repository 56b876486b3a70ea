export const MAX_RESPONSE_READ_BYTES = 64 * 1024;
export const MAX_EXCERPT_BYTES = 4 * 1024;

/** C0 but for tab and line ends, DEL and C1: PostgreSQL refuses NUL, and a terminal obeys the others. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/**
 * Reads a response body up to 64 KiB; of a longer one the rest is never read.
 * @returns its beginning, safe to store and show: at most 4 KiB of UTF-8.
 */
export async function readExcerpt(body: AsyncIterable<Uint8Array>): Promise<string> {
  const kept: Uint8Array[] = [];
  let readBytes = 0;
  for await (const chunk of body) {
    if (readBytes < MAX_EXCERPT_BYTES) kept.push(chunk);
    readBytes += chunk.length;
    if (readBytes >= MAX_RESPONSE_READ_BYTES) break;
  }
  return excerptOf(Buffer.concat(kept));
}

/** At most 4 KiB of UTF-8 text; what is no text, or no printable character, shows as U+FFFD. */
export function excerptOf(bytes: Uint8Array): string {
  const safe = decodeStart(bytes).replace(CONTROL_CHARACTERS, '\ufffd');
  // A replacement is longer than what it replaces, so the length is measured once more.
  return decodeStart(Buffer.from(safe));
}

/** The first 4 KiB; `stream` leaves out the character that the cut falls into. */
function decodeStart(bytes: Uint8Array): string {
  const cut = bytes.length > MAX_EXCERPT_BYTES;
  return new TextDecoder().decode(bytes.subarray(0, MAX_EXCERPT_BYTES), { stream: cut });
}
