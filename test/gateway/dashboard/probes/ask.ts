import { expect } from 'vitest';
import { multipartOf, type Visitor } from '../dashboard-fixture.ts';

/** A response, without following its redirect. */
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

const DOWNLOAD_POLICY = ["default-src 'none'", 'sandbox'];

/** Makes one request as a person, and checks what holds for every response of the dashboard. */
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

/** Sends a form; with the field `file`, as multipart. */
export function send(
  visitor: Pick<Visitor, 'fetch'>,
  path: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { file } = fields;
  const body =
    file === undefined ? new URLSearchParams(fields) : multipartOf(fields, new File([file], 'probe.pdf'));
  return ask(visitor, path, { method: 'POST', body, headers });
}

/** Not cached, not framed, only the dashboard's own scripts and styles, no session, and no link to another host. */
function expectSafe(what: string, { status, headers, text, location }: Answer): void {
  expect(status, what).toBeLessThan(500);
  expect(headers.get('cache-control'), what).toBe('no-store');
  const isDownload = headers.has('content-disposition');
  expect(headers.get('content-security-policy')?.split(/; ?/).sort(), what).toEqual(
    (isDownload ? DOWNLOAD_POLICY : POLICY).toSorted(),
  );
  if (isDownload) expect(headers.get('content-disposition'), what).toMatch(/^attachment; filename=/);
  expect(headers.get('x-content-type-options'), what).toBe('nosniff');
  expect(headers.get('x-frame-options'), what).toMatch(/^(DENY|SAMEORIGIN)$/);
  expect(headers.get('referrer-policy'), what).toBe('same-origin');
  for (const cookie of headers.getSetCookie()) expect(cookie, what).not.toMatch(/^__Host-session=[^;]/);
  if (location !== null) expect(location, what).toMatch(/^\/(?!\/)[\x21-\x7e]*$/);
  if (text !== '') {
    const types = isDownload ? ['application/pdf', 'text/csv; charset=utf-8'] : ['text/html; charset=utf-8'];
    expect(types, what).toContain(headers.get('content-type'));
  }
  expect(text, what).not.toContain('<img');
}
