import fc from 'fast-check';
import { expect, test } from 'vitest';
import { referrerPathOf, returnPathOf } from '../../../../gateway/dashboard/sign-in/return-path.ts';

const ORIGIN = 'https://dashboard.example';

test.each([
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '///evil.example',
  '/.//evil.example',
  '/..//evil.example',
  '/a/..//evil.example',
  '/%2e//evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  'https://evil.example',
  'https:evil.example',
  'javascript:alert(1)',
  'data:text/html,x',
  '',
  'account',
  '/ account',
  '/é',
  '/a\r\nset-cookie: x=1',
  `/${'a'.repeat(500)}`,
  ' //evil.example',
  '@evil.example',
])('%j is not a return path', (asked) => {
  expect(returnPathOf(asked)).toBe('/');
});

test('the path of a referring page is that of a page of this host', () => {
  const from = (referer?: string) => referrerPathOf({ headers: { referer }, host: 'dashboard.example' });
  expect(from(`${ORIGIN}/account?page=2`)).toBe('/account?page=2');
  for (const other of ['https://evil.example/account', 'https://dashboard.example:8443/account', 'account'])
    expect(from(other)).toBeUndefined();
  expect(from()).toBeUndefined();
});

test('the referring page is found behind a proxy that sends another Host', () => {
  const from = (site: string) => {
    const headers = { referer: `${ORIGIN}/account`, 'sec-fetch-site': site };
    return referrerPathOf({ headers, host: 'dashboard:8090' });
  };
  expect(from('same-origin')).toBe('/account');
  for (const site of ['same-site', 'cross-site', 'none']) expect(from(site)).toBeUndefined();
});

test('a value that is not text is not a return path', () => {
  for (const asked of [undefined, null, 1, ['/account'], {}]) expect(returnPathOf(asked)).toBe('/');
});

test('a path of this host is kept with its query', () => {
  for (const path of [
    '/',
    '/account',
    '/live/x/webhooks?state=ERROR&page=a%2Fb',
    '/%2F%2Fevil.example',
    '/?a=//b',
  ]) {
    expect(returnPathOf(path)).toBe(path);
  }
});

test('any requested return path stays on this host', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.stringMatching(/^[/\\.%2eEfF@:?#a\t\n ]{1,12}$/),
    fc.webUrl({ withQueryParameters: true }),
  );
  fc.assert(
    fc.property(text, (asked) => {
      const path = returnPathOf(asked);
      expect(new URL(path, ORIGIN).origin).toBe(ORIGIN);
      // As the Location header's readers see it, who may not agree with the URL standard.
      expect(path).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/);
    }),
  );
});
