import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { DEMO_PEOPLE } from '../../../local/oidc/demo-people.ts';
import { startOidcProvider } from '../../../local/oidc/openid-provider.ts';
import { loadProviderSecrets } from '../../../local/oidc/provider-secrets.ts';
import { CookieBrowser, type OpenedPage } from '../../gateway/dashboard/sign-in/cookie-browser.ts';
import { temporaryDataFolder } from '../temporary-data-folder.ts';

const DASHBOARD = 'http://127.0.0.1:9';
const REDIRECT = `${DASHBOARD}/sign-in/callback`;
const VERIFIER = 'v'.repeat(43);
const [ANA] = DEMO_PEOPLE;

const data = temporaryDataFolder();
const secrets = loadProviderSecrets(data.folder, DEMO_PEOPLE);
const provider = await startOidcProvider({
  folder: data.folder,
  secrets,
  people: DEMO_PEOPLE,
  port: 0,
  dashboardUrl: DASHBOARD,
  clientId: 'dashboard',
  clientSecret: secrets.clientSecret,
  redirectUri: REDIRECT,
});
afterAll(async () => {
  await provider.stop();
  data[Symbol.dispose]();
});

const isDashboard = ({ origin }: URL) => origin === DASHBOARD;

function authorize(
  browser: CookieBrowser,
  changed: Record<string, string | undefined> = {},
): Promise<OpenedPage> {
  const parameters: Record<string, string | undefined> = {
    client_id: 'dashboard',
    response_type: 'code',
    scope: 'openid email profile',
    redirect_uri: REDIRECT,
    state: 's',
    nonce: 'n',
    code_challenge_method: 'S256',
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    ...changed,
  };
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return browser.open(`${provider.issuer}/auth?${new URLSearchParams(given)}`, {}, isDashboard);
}

async function newCode(): Promise<string> {
  const browser = new CookieBrowser();
  const form = await authorize(browser);
  const answer = await browser.submit(
    form,
    '',
    { email: ANA.email, password: secrets.passwords[ANA.subject]! },
    isDashboard,
  );
  return answer.url.searchParams.get('code')!;
}

function redeem(code: string, changed: Record<string, string> = {}, secret = secrets.clientSecret) {
  return fetch(`${provider.issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`dashboard:${secret}`).toString('base64')}` },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT,
      code_verifier: VERIFIER,
      ...changed,
    }),
  });
}

test('secrets are generated once per folder, readable only by their owner', () => {
  expect(statSync(data.folder.file('oidc-provider.json')).mode & 0o777).toBe(0o600);
  expect(statSync(data.folder.file('oidc-provider.db')).mode & 0o777).toBe(0o600);
  expect(loadProviderSecrets(data.folder, DEMO_PEOPLE)).toEqual(secrets);
  using other = temporaryDataFolder();
  const others = loadProviderSecrets(other.folder, DEMO_PEOPLE);
  for (const name of ['clientSecret', 'cookieKey'] as const) expect(others[name]).not.toBe(secrets[name]);
  expect(others.signingKey.n).not.toBe(secrets.signingKey.n);
  const passwords = [...Object.values(secrets.passwords), ...Object.values(others.passwords)];
  expect(new Set(passwords).size).toBe(2 * DEMO_PEOPLE.length);
});

test('a provider that cannot start answers with the reason', async () => {
  using own = temporaryDataFolder();
  const faulty = await startOidcProvider({
    folder: own.folder,
    secrets,
    people: DEMO_PEOPLE,
    port: 0,
    dashboardUrl: 'not a URL',
    clientId: 'dashboard',
    clientSecret: secrets.clientSecret,
    redirectUri: REDIRECT,
  });
  onTestFinished(() => faulty.stop());
  const response = await fetch(`${faulty.issuer}/auth`, { signal: AbortSignal.timeout(5_000) });
  expect([response.status, await response.text()]).toEqual([500, expect.stringContaining('Invalid URL')]);
});

test('damaged secrets are reported and not replaced', () => {
  using damaged = temporaryDataFolder();
  damaged.folder.write('oidc-provider.json', '{"clientSecret": ');
  expect(() => loadProviderSecrets(damaged.folder, DEMO_PEOPLE)).toThrow('is not valid JSON');
  expect(damaged.folder.read('oidc-provider.json')).toBe('{"clientSecret": ');
});

test('a code can be redeemed once, by the client that requested it', async () => {
  const code = await newCode();
  expect((await redeem(code, {}, 'another')).status).toBe(401);
  expect((await redeem(await newCode(), { code_verifier: 'x'.repeat(43) })).status).toBe(400);
  expect((await redeem(await newCode(), { redirect_uri: `${DASHBOARD}/other` })).status).toBe(400);
  const tokens = (await (await redeem(code)).json()) as { access_token: string };
  const answer = await fetch(`${provider.issuer}/me`, {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  });
  const { email, name, subject } = ANA;
  expect(await answer.json()).toEqual({ sub: subject, email, email_verified: true, name });
  expect((await redeem(code)).status).toBe(400);
});

test.each([
  ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
  ['with a plain code challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
])('a request %s is redirected back with an error', async (_name, changed, error) => {
  const page = await authorize(new CookieBrowser(), changed);
  expect(page.url.searchParams.get('error')).toBe(error);
  expect(page.url.searchParams.has('code')).toBe(false);
});

test.each([
  ['another client', { client_id: '<b>x</b>' }],
  ['another redirect URI', { redirect_uri: 'https://evil.example/sign-in/callback' }],
  ['a path below the redirect URI', { redirect_uri: `${REDIRECT}/x` }],
])('a request for %s is rejected without a redirect', async (_name, changed) => {
  const page = await authorize(new CookieBrowser(), changed);
  expect([page.status, page.url.origin]).toEqual([400, provider.issuer]);
  expect(page.text).not.toMatch(/<b>|fonts\.googleapis/);
});

test('a wrong password or unknown email shows the form again, with the input escaped', async () => {
  const browser = new CookieBrowser();
  const form = await authorize(browser);
  const hostile = '"><script>alert(1)</script>';
  for (const email of [ANA.email, 'nobody@demo.example', hostile, '__proto__', '']) {
    const again = await browser.submit(form, '', { email, password: 'wrong' }, isDashboard);
    expect([again.status, again.url.origin]).toEqual([400, provider.issuer]);
    expect(again.document.querySelector('#email')!.getAttribute('value')).toBe(email);
    expect(again.document.querySelector('script')).toBeNull();
  }
  const vera = { email: DEMO_PEOPLE[1].email, password: secrets.passwords[ANA.subject]! };
  expect((await browser.submit(form, '', vera, isDashboard)).status).toBe(400);
  const large = { email: 'x'.repeat(20_000), password: 'x' };
  expect((await browser.submit(form, '', large, isDashboard)).status).toBe(413);
});

test('a form opened in another browser is rejected', async () => {
  const form = await authorize(new CookieBrowser());
  const other = new CookieBrowser();
  const password = secrets.passwords[ANA.subject]!;
  const page = await other.submit(form, '', { email: ANA.email, password }, isDashboard);
  expect([page.status, page.url.origin]).toEqual([400, provider.issuer]);
});

test("pages load nothing from other hosts, run no scripts and use the browser's language", async () => {
  const form = await authorize(new CookieBrowser());
  expect(form.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'none'");
  expect(form.headers.get('cache-control')).toBe('no-store');
  expect(form.text).not.toMatch(/https?:\/\//);
  expect(form.document.querySelector('html')!.getAttribute('lang')).toBe('en');
  const page = await fetch(form.url, { headers: { 'accept-language': 'pt-BR,pt;q=0.9,en;q=0.8' } });
  expect(await page.text()).toContain('lang="pt-BR"');
});
