import type { IncomingMessage } from 'node:http';
import { Problem, staticProblem } from '../problems/problem.ts';

const HEADER = 'idempotency-key';
const KEY = /^[\x20-\x7e]{1,255}$/;
/** A string of RFC 9651 structured fields: quoted, with quotes and backslashes escaped. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;

/**
 * Reads the Idempotency-Key header, quoted or bare: 1 to 255 printable ASCII characters.
 * IDEMPOTENCY_KEY_MISSING; INVALID_REQUEST when it is malformed or repeated.
 */
export function idempotencyKeyOf(request: IncomingMessage): string {
  const [value = '', ...others] = request.headersDistinct[HEADER] ?? [];
  if (others.length > 0) throw malformed();
  if (value === '') throw staticProblem('IDEMPOTENCY_KEY_MISSING');
  const key = value.startsWith('"') ? unquoted(value) : value;
  if (key === undefined || !KEY.test(key)) throw malformed();
  return key;
}

function unquoted(value: string): string | undefined {
  return QUOTED.exec(value)?.[1]?.replaceAll(/\\(["\\])/g, '$1');
}

function malformed(): Problem {
  return new Problem(
    'INVALID_REQUEST',
    'Header Idempotency-Key must be given once, as 1 to 255 printable ASCII characters, bare or in double quotes.',
  );
}
