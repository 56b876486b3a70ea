import type { IncomingHttpHeaders } from 'node:http';
import { MAX_RETRY_AFTER_MS } from '../../contracts/webhooks/delivery-limits.ts';

export const MAX_RESPONSE_READ_BYTES = 64 * 1024;
export const MAX_EXCERPT_BYTES = 4 * 1024;

/** C0 except tab and line ends, DEL and C1: PostgreSQL rejects NUL, and terminals interpret the others. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it matches control characters on purpose
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** The beginning of a response body, safe to store and show. The rest of a long body is not read. */
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

/** At most 4 KiB of UTF-8 text; bytes that are not text and control characters become U+FFFD. */
export function excerptOf(bytes: Uint8Array): string {
  const safe = decodeStart(bytes).replace(CONTROL_CHARACTERS, '\ufffd');
  // A replacement character is longer than what it replaces, so a text that may be too long now is cut a second time.
  return safe.length * MAX_BYTES_OF_UNIT <= MAX_EXCERPT_BYTES ? safe : decodeStart(Buffer.from(safe));
}

/** The most bytes of UTF-8 for one UTF-16 code unit. */
const MAX_BYTES_OF_UNIT = 3;
const decoder = new TextDecoder();

/** The first 4 KiB; `stream` omits a character that the cut splits. */
function decodeStart(bytes: Uint8Array): string {
  if (bytes.length <= MAX_EXCERPT_BYTES) return decoder.decode(bytes);
  return new TextDecoder().decode(bytes.subarray(0, MAX_EXCERPT_BYTES), { stream: true });
}

const MAX_VALUE_LENGTH = 200;
const MAX_LENGTH = 1_024;
/** Headers whose values may be secrets of the endpoint or its users. */
const SECRET = /cookie|auth|token|secret|session|signature|api-?key|password|credential/i;
const OMITTED = '[omitted]';

/**
 * The headers of a response for people: a line `name: value` for each, without values that may be secret. At most 1,024
 * characters: long values are cut, and headers that do not fit are left out.
 */
export function describeResponseHeaders(headers: IncomingHttpHeaders): string {
  let text = '';
  for (const [name, values] of Object.entries(headers)) {
    for (const value of typeof values === 'string' ? [values] : (values ?? [])) {
      const line = `${name}: ${SECRET.test(name) ? OMITTED : cut(printable(value))}`;
      if (text.length + line.length + 1 > MAX_LENGTH) continue;
      text += text === '' ? line : `\n${line}`;
    }
  }
  return text;
}

const cut = (value: string) =>
  value.length > MAX_VALUE_LENGTH ? `${value.slice(0, MAX_VALUE_LENGTH - 1)}…` : value;

/** A line of text that is safe to store and show. */
function printable(text: string): string {
  if (PRINTABLE_ASCII.test(text)) return text;
  return text
    .toWellFormed()
    .replace(CONTROL_CHARACTERS, '\ufffd')
    .replaceAll(/[\r\n]/g, ' ');
}

const PRINTABLE_ASCII = /^[ -~]*$/;

const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/**
 * Reads a Retry-After header: seconds or an HTTP-date in any of its three forms (RFC 9110, 5.6.7 and 10.2.3).
 * @returns milliseconds from now, 0 to 24 hours; undefined for a missing or malformed header.
 */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : untilHttpDate(text, nowMs);
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS);
}

function untilHttpDate(text: string, nowMs: number): number {
  if (!HTTP_DATE.test(text)) return Number.NaN;
  // The asctime form names no zone and means UTC.
  return Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`) - nowMs;
}
