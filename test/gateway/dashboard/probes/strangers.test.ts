import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { parse } from 'node-html-parser';
import { expect, test } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AMBIGUOUS_BODIES } from '../../../support/ambiguous-bodies.ts';
import { exchange } from '../../http-call.ts';
import { sharedDashboard, type Visitor } from '../dashboard-fixture.ts';
import { ask, send } from './ask.ts';

/** Paths that are not merchants' pages, and hostile addresses, cookies and headers. */

const fixture = await sharedDashboard();
const merchant = randomUUID();
const visitor = await fixture.signIn({ [merchant]: Role.ADMIN });

const nobody: Pick<Visitor, 'fetch'> = {
  fetch: (path, init) => fetch(new URL(path, fixture.baseUrl), { redirect: 'manual', ...init }),
};

test('only the cookie with a token from the service is a session', async () => {
  const { token } = visitor;
  const path = `/live/${merchant}/members`;
  const elsewhere = [
    { path: `${path}?__Host-session=${token}&session=${token}&token=${token}`, headers: {} },
    { path: `/;__Host-session=${token}${path}`, headers: {} },
    { path, headers: { authorization: `Bearer ${token}` } },
    { path, headers: { 'x-session': token, '__host-session': token } },
    { path, headers: { cookie: `session=${token}` } },
    { path, headers: { cookie: `__host-session=${token}` } },
    { path, headers: { cookie: `__Host-session=${encodeURIComponent(`${token} `)}` } },
    { path, headers: { cookie: `__Host-session=${'a'.repeat(43)}; __Host-session=${token}` } },
  ];
  for (const { path: asked, headers } of elsewhere) {
    const { status, text: said } = await ask(nobody, asked, { headers });
    expect([303, 404], `${asked} ${JSON.stringify(headers)}`).toContain(status);
    expect(said).not.toContain('Members of this merchant');
  }
});

test('a session token chosen by someone else is rejected and removed', async () => {
  const chosen = 'a'.repeat(43);
  const { status, headers, location } = await ask(nobody, `/live/${merchant}`, {
    headers: { cookie: `__Host-session=${chosen}` },
  });
  expect({ status, location }).toEqual({
    status: 303,
    location: `/sign-in?return=%2Flive%2F${merchant}&ended=1`,
  });
  expect(headers.getSetCookie()).toEqual([
    expect.stringMatching(/^__Host-session=;.*(Expires=Thu, 01 Jan 1970|Max-Age=0)/),
  ]);
  // Signing in ignores it: no session was ever started for it.
  await ask(nobody, '/sign-in', { headers: { cookie: `__Host-session=${chosen}` } });
  expect((await ask(nobody, '/', { headers: { cookie: `__Host-session=${chosen}` } })).status).toBe(303);
});

test('pages do not reveal the session: not in HTML, URLs, or other cookies', async () => {
  for (const path of ['/', '/account', '/sign-in', '/signed-out', `/live/${merchant}/members`, '/nothing']) {
    const answer = await ask(visitor, path);
    expect(answer.text).not.toContain(visitor.token);
    expect(answer.location ?? '').not.toContain(visitor.token);
    expect(answer.headers.getSetCookie(), path).toEqual([]);
  }
});

test.each(AMBIGUOUS_BODIES)('%s ends the connection', async (_what, headers, body = '0\r\n\r\n') => {
  const port = Number(new URL(fixture.baseUrl).port);
  const request = (method: string) =>
    `${method} /account HTTP/1.1\r\nHost: a\r\nCookie: __Host-session=${visitor.token}\r\n`;
  const form = `${request('POST')}Content-Type: application/x-www-form-urlencoded\r\n${headers}\r\n\r\n${body}`;
  const received = await exchange(port, `${form}${request('GET')}Connection: close\r\n\r\n`);
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400']);
});

test('no return path leads to another host or injects a header', async () => {
  const returns = [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/%5cevil.example',
    '/\r\nset-cookie: __Host-session=x',
    '/%0d%0aset-cookie:x=y',
    '/\t/evil.example',
    'javascript:alert(1)',
    '/.//evil.example',
    '/..//evil.example',
    '/@evil.example',
    ' //evil.example',
    '/'.repeat(3_000),
    '"><img src=x onerror=alert(1)>',
    '/"><img src=x>',
    'http:evil.example',
    '/\u0000',
    '/\u2028',
  ];
  for (const value of returns) {
    const query = new URLSearchParams({ return: value });
    // Each checks the answer's redirect and page, too.
    const language = await ask(nobody, `/language?${query}`);
    expect(language.status, value).toBe(303);
    expect(new URL(language.location!, fixture.baseUrl).origin).toBe(fixture.baseUrl);
    expect(language.headers.getSetCookie().every((cookie) => cookie.startsWith('language='))).toBe(true);
    for (const path of ['/sign-in', `/live/${merchant}/members`, '/']) {
      const { location } = await ask(visitor, `${path}?${query}`);
      if (location !== null) expect(new URL(location, fixture.baseUrl).origin).toBe(fixture.baseUrl);
    }
    const page = parse((await ask(nobody, `/sign-in?${query}`)).text);
    for (const link of page.querySelectorAll('a')) {
      expect(new URL(link.getAttribute('href')!, fixture.baseUrl).origin, value).toBe(fixture.baseUrl);
    }
  }
});

test('no request header appears in a page or redirects elsewhere', async () => {
  const evil = '"><img src=x onerror=alert(1)>';
  const headers = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.example',
    'x-original-url': '/audit',
    'x-rewrite-url': '/audit',
    'user-agent': evil,
    'accept-language': evil,
    referer: `https://evil.example/${evil}`,
    'x-request-id': evil,
    'request-id': evil,
    'x-forwarded-for': '203.0.113.99',
    cookie: `__Host-session=${visitor.token}; language=${evil}`,
  };
  for (const path of [
    '/',
    '/account',
    '/nothing',
    `/live/${merchant}/members`,
    `/live/${merchant}/nothing`,
  ]) {
    const answer = await ask(visitor, path, { headers });
    expect(answer.text, path).not.toContain('evil.example');
    expect(answer.headers.get('request-id'), path).toMatch(/^[\w-]+$/);
  }
});

test('a forwarded address is not recorded unless the proxy is trusted', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.99' };
  const form = { ...visitor.proof(), contact: 'ops@shop.example', language: 'en' };
  const sent = await send(visitor, `/live/${merchant}/members/contact`, form, headers);
  expect(sent.status).toBe(303);
  const trail = await ask(visitor, `/live/${merchant}/audit`);
  expect(trail.text).toContain('127.0.0.1');
  expect(trail.text).not.toContain('203.0.113.99');
});

test('paths that are not pages are a 404, in any spelling', async () => {
  const raw = (path: string, method = 'GET') =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const headers = { cookie: `__Host-session=${visitor.token}` };
      httpRequest(fixture.baseUrl, { path, method, headers }, async (response) =>
        resolve({ status: response.statusCode!, body: await text(response) }),
      )
        .on('error', reject)
        .end();
    });
  const paths = [
    '/../../etc/passwd',
    '/assets/../dashboard.ts',
    '/assets/..%2fdashboard.ts',
    '/assets/%2e%2e/dashboard.ts',
    '/assets/',
    '/assets',
    '/assets/.%00',
    '//',
    '/./',
    '/%',
    '/%ff',
    '/live',
    `/live/${merchant}/`,
    `/live/${merchant}/members/`,
    `/live/${merchant}/../${merchant}/members`,
    `/live/${merchant}%2fmembers`,
    '/metrics',
    '/healthz',
    '/readyz',
    '/v1/products',
    '/.git/config',
    '/.env',
    '/package.json',
  ];
  for (const path of paths) {
    const { status, body } = await raw(path);
    expect([400, 403, 404], path).toContain(status);
    expect(body, path).not.toMatch(/Members of this merchant|Membros desta empresa|root:|createDashboard/);
  }
  for (const method of ['TRACE', 'OPTIONS', 'PUT', 'DELETE', 'PROPFIND', 'PURGE']) {
    for (const path of ['/', '/account', '/sign-out', `/live/${merchant}/members`]) {
      const { status, body } = await raw(path, method);
      expect([400, 404, 405], `${method} ${path}`).toContain(status);
      expect(body).not.toContain(visitor.token);
    }
  }
});

test('headers that are too large are refused', async () => {
  const port = Number(new URL(fixture.baseUrl).port);
  const large = `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`;
  expect(await exchange(port, large)).toMatch(/^HTTP\/1\.1 431/);
});
