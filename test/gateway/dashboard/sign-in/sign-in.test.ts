import { createHash, randomBytes } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { afterAll, expect, test } from 'vitest';
import { AccountService } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { CookieBrowser } from './cookie-browser.ts';
import { fillIn, goToProvider, SESSION, signIn, startSignInFixture } from './sign-in-fixture.ts';

const fixture = await startSignInFixture();
await fixture.startProvider();
afterAll(() => fixture.close());

const sha256 = (token: string) => createHash('sha256').update(token).digest();
const isCallback = ({ pathname }: URL) => pathname === '/sign-in/callback';
const authenticate = (token: string) =>
  createClient(AccountService, fixture.transport).authenticateSession({ tokenSha256: sha256(token) });
const flowsOf = ({ cookies }: CookieBrowser) =>
  [...cookies.keys()].filter((name) => name.startsWith('__Host-sign-in-'));

test('a person who signs in gets their account, and returns to the requested page', async () => {
  const { browser, page } = await signIn(fixture, new CookieBrowser(), '/account?page=');
  expect(page.status).toBe(200);
  expect(`${page.url.origin}${page.url.pathname}${page.url.search}`).toBe(`${fixture.baseUrl}/account?page=`);
  expect(page.text).toContain(fixture.person.email);
  const { account, session } = await authenticate(browser.cookies.get(SESSION)!.value);
  expect(account).toMatchObject({ email: fixture.person.email, emailVerified: true, name: 'Ana' });
  expect(session!.ipAddress).toBe('127.0.0.1');
});

test('the session cookie is limited to this host, HttpOnly and SameSite', async () => {
  const { browser } = await signIn(fixture);
  const { value, attributes } = browser.cookies.get(SESSION)!;
  expect(attributes).toEqual({ path: '/', httponly: true, secure: true, samesite: 'Lax' });
  expect(value).toMatch(/^[\w-]{43}$/);
});

test('the state of a sign-in is in a cookie for ten minutes, removed once it is used', async () => {
  const browser = new CookieBrowser();
  const form = await goToProvider(fixture, browser);
  const [flow] = flowsOf(browser).map((name) => browser.cookies.get(name)!);
  expect(flow!.attributes).toEqual({
    path: '/',
    httponly: true,
    secure: true,
    samesite: 'Lax',
    'max-age': '600',
  });
  await fillIn(fixture, browser, form);
  expect(flowsOf(browser)).toEqual([]);
});

test('the provider gets a code request with state, nonce and PKCE, without secrets in the URL', async () => {
  const browser = new CookieBrowser();
  const { way } = await goToProvider(fixture, browser);
  const { searchParams } = way.find(({ pathname }) => pathname === '/auth')!;
  expect(Object.fromEntries(searchParams)).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    scope: 'openid email profile',
    redirect_uri: `${fixture.baseUrl}/sign-in/callback`,
  });
  for (const name of ['state', 'nonce', 'code_challenge'])
    expect(searchParams.get(name)).toMatch(/^[\w-]{43}$/);
  const [, , verifier] = browser.cookies.get(flowsOf(browser)[0]!)!.value.split('.');
  expect(searchParams.get('code_challenge')).toBe(sha256(verifier!).toString('base64url'));
  expect(way.map(String).join(' ')).not.toContain(verifier!);
});

test('a token that was in the browser before the sign-in does not become the session', async () => {
  const planted = randomBytes(32).toString('base64url');
  const browser = new CookieBrowser();
  browser.cookies.set(SESSION, { name: SESSION, value: planted, path: '/', attributes: {} });
  await signIn(fixture, browser);
  const token = browser.cookies.get(SESSION)!.value;
  expect(token).not.toBe(planted);
  await expect(authenticate(planted)).rejects.toThrow(/invalid/);
  expect((await authenticate(token)).account!.email).toBe(fixture.person.email);
});

test('a second sign-in in the same browser starts another session and ends the first', async () => {
  const { browser } = await signIn(fixture);
  const first = browser.cookies.get(SESSION)!.value;
  // The provider still knows the browser and asks nothing.
  const page = await browser.open(`${fixture.baseUrl}/sign-in/start?return=/account`);
  expect(page.url.pathname).toBe('/account');
  expect(browser.cookies.get(SESSION)!.value).not.toBe(first);
  await expect(authenticate(first)).rejects.toThrow(/invalid/);
});

test('several tabs can sign in at the same time, each to its own page', async () => {
  const browser = new CookieBrowser();
  const first = await goToProvider(fixture, browser, '/account?page=');
  const second = await goToProvider(fixture, browser, '/account');
  expect(flowsOf(browser)).toHaveLength(2);
  expect((await fillIn(fixture, browser, second)).url.search).toBe('');
  const page = await fillIn(fixture, browser, first);
  expect(page.status).toBe(200);
  expect(page.url.search).toBe('?page=');
});

test('abandoned sign-ins are removed before the request headers become too large', async () => {
  const browser = new CookieBrowser();
  for (let n = 0; n < 25; n += 1) {
    await browser.open(`${fixture.baseUrl}/sign-in/start`, {}, ({ origin }) => origin === fixture.issuer);
  }
  expect(flowsOf(browser).length).toBeLessThanOrEqual(11);
  expect((await signIn(fixture, browser)).page.status).toBe(200);
});

test('a person who is already signed in is redirected', async () => {
  const { browser } = await signIn(fixture);
  const page = await browser.open(`${fixture.baseUrl}/sign-in?return=%2Faccount`);
  expect(page.way.map(({ pathname }) => pathname)).toEqual(['/sign-in', '/account']);
});

test('a dashboard opened under another name of its machine redirects to its own, where the cookies are', async () => {
  const { port } = new URL(fixture.baseUrl);
  for (const path of ['/sign-in?return=%2Faccount', '/sign-in/start?return=%2Faccount']) {
    const response = await fetch(`http://localhost:${port}${path}`, { redirect: 'manual' });
    expect(response.headers.get('location')).toBe(`${fixture.baseUrl}${path}`);
  }
});

test('a response of the provider can be used once', async () => {
  const browser = new CookieBrowser();
  const answer = await fillIn(fixture, browser, await goToProvider(fixture, browser), isCallback);
  const flow = browser.cookies.get(flowsOf(browser)[0]!)!;
  expect((await browser.open(answer.url)).url.pathname).toBe('/account');
  const token = browser.cookies.get(SESSION)!.value;
  const again = await browser.open(answer.url);
  expect(again.status).toBe(400);
  // Keeping the cookie does not help either: the code has been used.
  browser.cookies.set(flow.name, flow);
  const kept = await browser.open(answer.url);
  expect(kept.status).toBe(400);
  expect(kept.text).toContain('Try again');
  expect(browser.cookies.get(SESSION)!.value).toBe(token);
});

test('the response to another browser’s sign-in is rejected', async () => {
  const attacker = new CookieBrowser();
  const answer = await fillIn(fixture, attacker, await goToProvider(fixture, attacker), isCallback);
  const victim = new CookieBrowser();
  await goToProvider(fixture, victim);
  const page = await victim.open(answer.url);
  expect(page.status).toBe(400);
  expect(victim.cookies.has(SESSION)).toBe(false);
  // Nor does the victim's own state with the attacker's code, which was issued for another verifier.
  const mixed = new URL(answer.url);
  mixed.searchParams.set('state', flowsOf(victim)[0]!.slice('__Host-sign-in-'.length));
  expect((await victim.open(mixed)).status).toBe(400);
  expect(victim.cookies.has(SESSION)).toBe(false);
});

test('a sign-in that took too long must start again', async () => {
  const browser = new CookieBrowser();
  const answer = await fillIn(fixture, browser, await goToProvider(fixture, browser), isCallback);
  const flow = browser.cookies.get(flowsOf(browser)[0]!)!;
  const [expiresAt, ...rest] = flow.value.split('.');
  const past = [Number(expiresAt) - 601, ...rest].join('.');
  browser.cookies.set(flow.name, { ...flow, value: past });
  expect((await browser.open(answer.url)).status).toBe(400);
  expect(browser.cookies.has(SESSION)).toBe(false);
});

test.each([
  ['no state', (url: URL) => url.searchParams.delete('state')],
  ['another state', (url: URL) => url.searchParams.set('state', 'x'.repeat(43))],
  ['two states', (url: URL) => url.searchParams.append('state', 'x')],
  ['no code', (url: URL) => url.searchParams.delete('code')],
  ['another code', (url: URL) => url.searchParams.set('code', 'x'.repeat(43))],
  ['two codes', (url: URL) => url.searchParams.append('code', 'x')],
  ['another issuer', (url: URL) => url.searchParams.set('iss', 'https://issuer.example')],
  ['no issuer', (url: URL) => url.searchParams.delete('iss')],
])('a response with %s is rejected with an explanation', async (_name, change) => {
  const browser = new CookieBrowser();
  const answer = await fillIn(fixture, browser, await goToProvider(fixture, browser), isCallback);
  change(answer.url);
  const page = await browser.open(answer.url);
  expect(page.status).toBe(400);
  expect(page.document.querySelector('h1')!.text).toBe('Sign-in failed');
  expect(page.document.querySelector('a.button')!.getAttribute('href')).toBe('/sign-in/start?return=%2F');
  expect(page.text).not.toMatch(/OAUTH|oauth|Error|node_modules|code=/);
  expect(browser.cookies.has(SESSION)).toBe(false);
});

test('the parameters of the provider’s response are not shown', async () => {
  const browser = new CookieBrowser();
  const form = await goToProvider(fixture, browser);
  const answer = await browser.submit(form, '', { cancel: 'yes' }, isCallback);
  answer.url.searchParams.set('error_description', '<script>alert(1)</script>');
  const page = await browser.open(answer.url);
  expect(page.text).not.toContain('alert(1)');
});
