import type { IncomingHttpHeaders } from 'node:http';
import { printable } from './response-excerpt.ts';

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
    for (const value of [values ?? []].flat()) {
      const line = `${name}: ${SECRET.test(name) ? OMITTED : cut(printable(value))}`;
      if (text.length + line.length + 1 > MAX_LENGTH) continue;
      text += text === '' ? line : `\n${line}`;
    }
  }
  return text;
}

const cut = (value: string) =>
  value.length > MAX_VALUE_LENGTH ? `${value.slice(0, MAX_VALUE_LENGTH - 1)}…` : value;
