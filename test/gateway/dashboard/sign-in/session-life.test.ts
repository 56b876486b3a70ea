import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { CookieBrowser } from './cookie-browser.ts';
import { goToProvider, SESSION, type SignInFixture, signIn, startSignInFixture } from './sign-in-fixture.ts';

const fixtures: SignInFixture[] = [];
afterAll(() => Promise.all(fixtures.map((fixture) => fixture.close())));

async function openFixture(overrides: Record<string, string> = {}): Promise<SignInFixture> {
  const fixture = await startSignInFixture(overrides);
  fixtures.push(fixture);
  return fixture;
}

/** With a provider, for tests that neither change settings nor stop it. */
const fixture = await openFixture();
await fixture.startProvider();

const isOpen = async (fixture: SignInFixture, browser: CookieBrowser) =>
  (await browser.open(`${fixture.baseUrl}/account`)).url.pathname === '/account';

test('a dashboard that started before its provider works as soon as the provider is available', async () => {
  const fixture = await openFixture();
  const browser = new CookieBrowser();
  const page = await browser.open(`${fixture.baseUrl}/sign-in/start?return=/account`);
  expect(page.status).toBe(503);
  expect(page.document.querySelector('[role=alert]')!.text).toContain('is not responding');
  expect((await browser.open(`${fixture.baseUrl}/signed-out`)).status).toBe(200);
  const provider = await fixture.startProvider();
  expect((await signIn(fixture, browser)).page.url.pathname).toBe('/account');
  // Signed-in people can continue while it is unavailable again.
  await provider.stop();
  expect(await isOpen(fixture, browser)).toBe(true);
  expect((await new CookieBrowser().open(`${fixture.baseUrl}/sign-in`)).status).toBe(200);
});

test('after the provider was unavailable, a person signs in to the same account', async () => {
  const fixture = await openFixture();
  const provider = await fixture.startProvider();
  const { browser } = await signIn(fixture);
  await provider.stop();
  await fixture.startProvider();
  const page = await browser.open(`${fixture.baseUrl}/sign-in/start?return=/account`);
  expect(page.url.pathname).toBe('/account');
});

test('an unused session expires', async () => {
  const fixture = await openFixture({ DASHBOARD_SESSION_IDLE: '3s' });
  await fixture.startProvider();
  const { browser } = await signIn(fixture);
  expect(await isOpen(fixture, browser)).toBe(true);
  await delay(4_000);
  const page = await browser.open(`${fixture.baseUrl}/account`);
  expect(page.url.pathname).toBe('/sign-in');
  expect(page.url.searchParams.get('return')).toBe('/account');
  expect(page.document.querySelector('[role=status]')!.text).toContain('Your session has ended');
  expect(browser.cookies.has(SESSION)).toBe(false);
});

test('a session expires after its lifetime, even if it is in use', async () => {
  const fixture = await openFixture({ DASHBOARD_SESSION_IDLE: '1m', DASHBOARD_SESSION_LIFETIME: '1s' });
  await fixture.startProvider();
  const { browser } = await signIn(fixture);
  await expect.poll(() => isOpen(fixture, browser), { timeout: 40_000 }).toBe(false);
  expect(browser.cookies.has(SESSION)).toBe(false);
});

test('signing out clears the cookie and invalidates its token', async () => {
  const { browser, page } = await signIn(fixture);
  const kept = browser.cookies.get(SESSION)!;
  const out = await browser.submit(page, '/sign-out', {});
  expect(out.url.pathname).toBe('/signed-out');
  expect(browser.cookies.has(SESSION)).toBe(false);
  const leave = out.document.querySelectorAll('a').find((link) => link.text.includes('as well'));
  expect(leave!.getAttribute('href')).toBe(`${fixture.issuer}/session/end?client_id=dashboard`);
  const thief = new CookieBrowser();
  thief.cookies.set(SESSION, kept);
  expect(await isOpen(fixture, thief)).toBe(false);
});

test('signing out of an expired session gets the same response', async () => {
  const { browser, page } = await signIn(fixture);
  const second = new CookieBrowser();
  second.cookies.set(SESSION, browser.cookies.get(SESSION)!);
  await second.submit(page, '/sign-out', {});
  expect((await browser.submit(page, '/sign-out', {})).url.pathname).toBe('/signed-out');
  expect(browser.cookies.has(SESSION)).toBe(false);
  expect((await browser.submit(page, '/sign-out', {})).url.pathname).toBe('/signed-out');
});

test('signing out everywhere ends the sessions of all browsers, but of no other person', async () => {
  const [first, second] = [await signIn(fixture), await signIn(fixture)];
  const other = await fixture.signIn({});
  const out = await first.browser.submit(first.page, '/sign-out-everywhere', {});
  expect(`${out.url.pathname}${out.url.search}`).toBe('/signed-out?everywhere');
  for (const { browser } of [first, second]) expect(await isOpen(fixture, browser)).toBe(false);
  expect((await other.get('/account')).status).toBe(200);
});

test('a person sees their open sessions and can end them, but not those of others', async () => {
  const fixture = await openFixture();
  await fixture.startProvider();
  const [first, second] = [await signIn(fixture), await signIn(fixture)];
  const page = await first.browser.open(`${fixture.baseUrl}/account`);
  const ends = page.document.querySelectorAll('table form').map((form) => form.getAttribute('action')!);
  expect(ends).toHaveLength(2);
  // Newest first.
  const ended = await first.browser.submit(page, ends[0]!, {});
  expect(ended.text).toContain('Session ended.');
  expect(await isOpen(fixture, second.browser)).toBe(false);
  expect(await isOpen(fixture, first.browser)).toBe(true);
  const other = await fixture.signIn({});
  await other.submit('/account', 'end', {});
  expect((await other.get('/account')).path).toContain('/sign-in');
  const stranger = await fixture.signIn({});
  await stranger.post(ends[1]!, stranger.proof());
  expect(await isOpen(fixture, first.browser)).toBe(true);
});

test('signing out at the provider is offered too', async () => {
  const { browser, page } = await signIn(fixture);
  const out = await browser.submit(page, '/sign-out', {});
  const leave = out.document.querySelectorAll('a').find((link) => link.text.includes('as well'));
  const question = await browser.open(leave!.getAttribute('href')!);
  expect(question.status).toBe(200);
  const done = await browser.submit(question, '/session/end/confirm', { logout: 'yes' });
  expect(done.text).toContain('You are signed out of the identity provider.');
  expect((await goToProvider(fixture, browser)).url.pathname).toMatch(/^\/interaction\//);
});

test('the chosen language is kept, whatever the browser requests, and the link stays on this host', async () => {
  const browser = new CookieBrowser();
  const english = await browser.open(`${fixture.baseUrl}/sign-in`);
  expect(english.document.querySelector('html')!.getAttribute('lang')).toBe('en');
  const link = english.document.querySelector('a[lang="pt-BR"]')!.getAttribute('href')!;
  const portuguese = await browser.open(new URL(link, fixture.baseUrl));
  expect(portuguese.url.pathname).toBe('/sign-in');
  expect(portuguese.text).toContain('Entrar no painel');
  const away = await browser.open(`${fixture.baseUrl}/language?to=en&return=//evil.example`);
  expect(away.url.origin).toBe(fixture.baseUrl);
  expect((await browser.open(`${fixture.baseUrl}/language?to=xx`)).status).toBe(400);
});
