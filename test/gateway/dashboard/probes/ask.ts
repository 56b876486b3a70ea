import { expect } from 'vitest';
import type { Visitor } from '../dashboard-fixture.ts';

/** An answer as it came, its redirect not followed. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly location: string | null;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
];

/** Asks once, as somebody, and holds the answer to what every answer of the dashboard must be. */
export async function ask(
  visitor: Pick<Visitor, 'fetch'>,
  path: string,
  init: RequestInit = {},
): Promise<Answer> {
  const response = await visitor.fetch(path, init);
  const { status, headers } = response;
  const answer = { status, headers, text: await response.text(), location: headers.get('location') };
  expectSafe(`${init.method ?? 'GET'} ${path}`, answer);
  return answer;
}

/** Sends a form. */
export function send(
  visitor: Pick<Visitor, 'fetch'>,
  path: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return ask(visitor, path, { method: 'POST', body: new URLSearchParams(fields), headers });
}

/** Kept by nobody, framed by nobody, no script or style but the dashboard's own, no session given, no way to another host. */
function expectSafe(what: string, { status, headers, text, location }: Answer): void {
  expect(status, what).toBeLessThan(500);
  expect(headers.get('cache-control'), what).toBe('no-store');
  expect(headers.get('content-security-policy')?.split(';').sort(), what).toEqual(POLICY.toSorted());
  expect(headers.get('x-content-type-options'), what).toBe('nosniff');
  expect(headers.get('x-frame-options'), what).toMatch(/^(DENY|SAMEORIGIN)$/);
  expect(headers.get('referrer-policy'), what).toBe('same-origin');
  for (const cookie of headers.getSetCookie()) expect(cookie, what).not.toMatch(/^__Host-session=[^;]/);
  if (location !== null) expect(location, what).toMatch(/^\/(?!\/)[\x21-\x7e]*$/);
  if (text !== '') expect(headers.get('content-type'), what).toBe('text/html; charset=utf-8');
  expect(text, what).not.toContain('<img');
}
