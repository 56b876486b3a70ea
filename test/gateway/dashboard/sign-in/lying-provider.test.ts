import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@connectrpc/connect';
import { afterAll, afterEach, expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../../../local/ports.ts';
import { AccountService } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { scrape } from '../../../support/scrape.ts';
import { startDashboardFixture } from '../dashboard-fixture.ts';
import { CookieBrowser } from './cookie-browser.ts';
import { type Lies, startLyingProvider } from './lying-provider.ts';
import { SESSION } from './sign-in-fixture.ts';

const CLIENT = 'dashboard';
/** Longer than the dashboard uses keys without reading them again. */
const KEYS_KEPT_MS = 1_100;
const nowS = () => Math.floor(Date.now() / 1_000);

const port = await findFreePort();
const provider = await startLyingProvider(port, CLIENT);
const fixture = await startDashboardFixture({
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: CLIENT,
  OIDC_CLIENT_SECRET: 'a secret: & ü',
});
afterEach(() => {
  provider.lies = {};
});
afterAll(async () => {
  await fixture.close();
  await provider.stop();
});

async function signInBy(lies: Lies) {
  provider.lies = lies;
  const browser = new CookieBrowser();
  const page = await browser.open(`${fixture.baseUrl}/sign-in/start?return=/account`);
  return { browser, page };
}

async function accountOf({ cookies }: CookieBrowser) {
  const tokenSha256 = createHash('sha256').update(cookies.get(SESSION)!.value).digest();
  const { account } = await createClient(AccountService, fixture.transport).authenticateSession({
    tokenSha256,
  });
  return account!;
}

test('a person with a valid ID token is signed in, by the ID token only', async () => {
  const { browser, page } = await signInBy({});
  expect(page.url.pathname).toBe('/account');
  expect(await accountOf(browser)).toMatchObject({ email: 'ana@shop.example', emailVerified: true });
});

test('people can sign in a second after the provider has replaced its keys without notice', async () => {
  expect((await signInBy({})).page.url.pathname).toBe('/account');
  await delay(KEYS_KEPT_MS);
  onTestFinished(() => delay(KEYS_KEPT_MS));
  expect((await signInBy({ nextKey: true })).page.url.pathname).toBe('/account');
});

test('people can sign in while the provider fails or limits discovery alone', async () => {
  expect((await signInBy({})).page.url.pathname).toBe('/account');
  for (const discoveryStatus of [503, 429]) {
    await delay(KEYS_KEPT_MS);
    expect((await signInBy({ discoveryStatus })).page.url.pathname).toBe('/account');
  }
});

test('sign-ins that the provider fails are counted, those that a browser can fail are not', async () => {
  const count = async (result: string) =>
    (await scrape())(`payments_sign_ins_total{result="${result}"}`) ?? 0;
  const increaseBy = async (result: string, lies: Lies) => {
    const before = await count(result);
    await signInBy(lies);
    return (await count(result)) - before;
  };
  expect(await increaseBy('succeeded', {})).toBe(1);
  for (const lies of [
    { claims: { iss: 'https://issuer.example' } },
    { token: { status: 401, type: 'application/json', body: '{"error":"invalid_client"}' } },
  ])
    expect(await increaseBy('failed', lies)).toBe(1);
  const byBrowser: readonly Lies[] = [
    { answer: { error: 'server_error', code: '' } },
    { answer: { iss: 'https://issuer.example' } },
    { answer: { state: 'another' } },
    { token: { status: 400, type: 'application/json', body: '{"error":"invalid_grant"}' } },
  ];
  for (const lies of byBrowser) expect(await increaseBy('failed', lies), JSON.stringify(lies)).toBe(0);
});

const untrue: readonly (readonly [string, Lies])[] = [
  ['for another client', { claims: { aud: 'another' } }],
  [
    'for several clients, authorized for another one',
    { claims: { aud: [CLIENT, 'another'], azp: 'another' } },
  ],
  ['of another issuer', { claims: { iss: 'https://issuer.example' } }],
  ['for another nonce', { claims: { nonce: 'x'.repeat(43) } }],
  ['without a nonce', { claims: { nonce: undefined } }],
  ['that has expired', { claims: { exp: nowS() - 300, iat: nowS() - 600 } }],
  ['that never expires', { claims: { exp: undefined } }],
  ['that is not valid yet', { claims: { nbf: nowS() + 600 } }],
  ['about nobody', { claims: { sub: undefined } }],
  ['whose subject is longer than OpenID Connect allows', { claims: { sub: 'x'.repeat(256) } }],
  ['whose subject cannot be stored', { claims: { sub: 'a\u0000na' } }],
  ['signed with a key that is not the provider’s', { foreignKey: true }],
  ['that nobody signed', { header: { alg: 'none' }, unsigned: true }],
  ['whose signature is gone', { unsigned: true }],
  ['signed with the client’s secret', { header: { alg: 'HS256' } }],
];
test.each(untrue)('an ID token %s is rejected', async (_name, lies) => {
  const { browser, page } = await signInBy(lies);
  expect(page.status).toBe(400);
  expect(page.document.querySelector('[role=alert]')!.text).toContain('could not be verified');
  expect(page.text).not.toContain('node_modules');
  expect(browser.cookies.has(SESSION)).toBe(false);
});

test.each([
  ['ahead', () => ({ iat: nowS() + 90, nbf: nowS() + 90, exp: nowS() + 150 })],
  ['behind', () => ({ iat: nowS() - 150, nbf: nowS() - 150, exp: nowS() - 90 })],
])('a provider whose clock is a minute and a half %s can sign people in', async (_name, claims) => {
  const { page } = await signInBy({ claims: claims() });
  expect([page.status, page.url.pathname]).toEqual([200, '/account']);
});

test('a response without an ID token is rejected', async () => {
  const body = JSON.stringify({ access_token: 'access', token_type: 'Bearer' });
  const { browser, page } = await signInBy({ token: { status: 200, type: 'application/json', body } });
  expect(page.status).toBe(400);
  expect(browser.cookies.has(SESSION)).toBe(false);
});

test.each([
  ['does not know the dashboard', 401, 'application/json', '{"error":"invalid_client"}', 502],
  ['takes the code for no code of its own', 400, 'application/json', '{"error":"invalid_grant"}', 400],
  ['has trouble', 500, 'text/html', '<h1>trouble</h1>', 503],
  ['answers nonsense', 200, 'application/json', '{"access', 503],
])('when the token endpoint %s, people get an explanation', async (_name, status, type, body, expected) => {
  const { browser, page } = await signInBy({ token: { status, type, body } });
  expect(page.status).toBe(expected);
  expect(page.document.querySelector('a.button')!.getAttribute('href')).toContain('/sign-in/start');
  expect(page.text).not.toContain('trouble');
  expect(browser.cookies.has(SESSION)).toBe(false);
});

test.each([
  ['access_denied', 403],
  ['login_required', 403],
  ['temporarily_unavailable', 400],
  ['invalid_scope', 400],
  ['<b>', 400],
])('when the provider answers %s, people get an explanation', async (error, expected) => {
  const { page } = await signInBy({ answer: { error, code: '' } });
  expect(page.status).toBe(expected);
  expect(page.text).not.toContain('<b>');
});

test('an email address missing from the ID token is read from userinfo, for the same subject only', async () => {
  const claims = { sub: 'eve', email: undefined, email_verified: undefined, name: undefined };
  const userinfo = { sub: 'eve', email: 'eve@shop.example', email_verified: 'true', name: 'Eve' };
  const { browser } = await signInBy({ claims, userinfo });
  expect(await accountOf(browser)).toMatchObject({
    email: 'eve@shop.example',
    emailVerified: true,
    name: 'Eve',
  });
  const other = await signInBy({ claims, userinfo: { ...userinfo, sub: 'ana' } });
  expect(other.page.status).toBe(400);
  expect(other.browser.cookies.has(SESSION)).toBe(false);
});

test.each([
  ['unverified', { email_verified: false }, false],
  ['without email_verified', { email_verified: undefined }, false],
  ['that only looks verified', { email_verified: 'yes' }, false],
])('an address %s does not count as verified', async (name, claims, expected) => {
  const { browser } = await signInBy({ claims: { sub: name, ...claims } });
  expect((await accountOf(browser)).emailVerified).toBe(expected);
});

test('people without an email address, or with an overlong name and address, can sign in', async () => {
  const none = await signInBy({ claims: { sub: 'none', email: undefined }, userinfo: { sub: 'none' } });
  expect(await accountOf(none.browser)).toMatchObject({ email: '', emailVerified: false });
  const long = {
    sub: 'long',
    email: `${'a'.repeat(300)}@shop.example`,
    name: `\0\ud800a${'😀'.repeat(300)}`,
  };
  const much = await signInBy({ claims: long });
  const name = `\ufffda${'😀'.repeat(198)}`;
  expect(await accountOf(much.browser)).toMatchObject({ email: '', emailVerified: false, name });
});

test.for([
  'a\u0000na@shop.example',
  'ana@shop.example\r\n',
  '\u0085ana@shop.example',
  'ana\ud800@shop.example',
])('the address %j is not cleaned into that of another person', async (email) => {
  const { browser } = await signInBy({ claims: { sub: JSON.stringify(email), email } });
  expect(await accountOf(browser)).toMatchObject({ email: '', emailVerified: false });
});

test('the secret is sent to the token endpoint in the header, form-encoded', async () => {
  await signInBy({});
  const [name, secret] = Buffer.from(provider.shown.authorization!.slice('Basic '.length), 'base64')
    .toString()
    .split(':');
  expect([name, secret]).toEqual([CLIENT, 'a+secret%3A+%26+%C3%BC']);
  expect(provider.shown.form!.has('client_secret')).toBe(false);
  expect(provider.shown.form!.get('code_verifier')).toMatch(/^[\w-]{43}$/);
});

test.each(['/realms/shop', '/realms/shop/'])('an issuer may be at the path %s', async (path) => {
  const other = await startLyingProvider(await findFreePort(), CLIENT, path);
  const theirs = await startDashboardFixture({ OIDC_ISSUER: other.issuer, OIDC_CLIENT_ID: CLIENT });
  const page = await new CookieBrowser().open(`${theirs.baseUrl}/sign-in/start?return=/account`);
  expect([page.status, page.url.pathname]).toEqual([200, '/account']);
  // A public client has no secret to show.
  expect(other.shown.authorization).toBeUndefined();
  expect(other.shown.form!.get('client_id')).toBe(CLIENT);
  await theirs.close();
  await other.stop();
});
