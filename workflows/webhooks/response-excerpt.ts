export const MAX_RESPONSE_READ_BYTES = 64 * 1024;
export const MAX_EXCERPT_BYTES = 4 * 1024;

/** C0 but for tab and line ends, DEL and C1: PostgreSQL refuses NUL, and a terminal obeys the others. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** The beginning of a response body as it comes in, safe to store and show; of a long one the rest is not read. */
export class ResponseExcerpt {
  readonly #kept: Uint8Array[] = [];
  #readBytes = 0;

  /** @returns false once 64 KiB have been read. */
  add(chunk: Uint8Array): boolean {
    if (this.#readBytes < MAX_EXCERPT_BYTES) this.#kept.push(chunk);
    this.#readBytes += chunk.length;
    return this.#readBytes < MAX_RESPONSE_READ_BYTES;
  }

  /** At most 4 KiB of UTF-8. */
  text(): string {
    return this.#readBytes === 0 ? '' : excerptOf(Buffer.concat(this.#kept));
  }
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
