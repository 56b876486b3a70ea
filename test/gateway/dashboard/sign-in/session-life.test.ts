import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { CookieBrowser } from './cookie-browser.ts';
import { goToProvider, SESSION, type SignInDesk, signIn, startSignInDesk } from './sign-in-desk.ts';

const desks: SignInDesk[] = [];
afterAll(() => Promise.all(desks.map((desk) => desk.close())));

async function openDesk(overrides: Record<string, string> = {}): Promise<SignInDesk> {
  const desk = await startSignInDesk(overrides);
  desks.push(desk);
  return desk;
}

const isOpen = async (desk: SignInDesk, browser: CookieBrowser) =>
  (await browser.open(`${desk.baseUrl}/account`)).url.pathname === '/account';

test('a dashboard that started before its provider serves people as soon as it is there', async () => {
  const desk = await openDesk();
  const browser = new CookieBrowser();
  const page = await browser.open(`${desk.baseUrl}/sign-in/start?return=/account`);
  expect(page.status).toBe(503);
  expect(page.document.querySelector('[role=alert]')!.text).toContain('does not answer');
  expect((await browser.open(`${desk.baseUrl}/signed-out`)).status).toBe(200);
  const provider = await desk.startProvider();
  expect((await signIn(desk, browser)).page.url.pathname).toBe('/account');
  // And signed-in people go on when it is away again.
  await provider.stop();
  expect(await isOpen(desk, browser)).toBe(true);
  expect((await new CookieBrowser().open(`${desk.baseUrl}/sign-in`)).status).toBe(200);
});

test('a provider that ends while somebody is there knows the person again when it is back', async () => {
  const desk = await openDesk();
  const provider = await desk.startProvider();
  const { browser } = await signIn(desk);
  await provider.stop();
  await desk.startProvider();
  const page = await browser.open(`${desk.baseUrl}/sign-in/start?return=/account`);
  expect(page.url.pathname).toBe('/account');
});

test('a session that nobody uses ends', async () => {
  const desk = await openDesk({ DASHBOARD_SESSION_IDLE: '3s' });
  await desk.startProvider();
  const { browser } = await signIn(desk);
  expect(await isOpen(desk, browser)).toBe(true);
  await delay(4_000);
  const page = await browser.open(`${desk.baseUrl}/account`);
  expect(page.url.pathname).toBe('/sign-in');
  expect(page.url.searchParams.get('return')).toBe('/account');
  expect(browser.cookies.has(SESSION)).toBe(false);
});

test('a session ends after its lifetime, however busy it is', async () => {
  const desk = await openDesk({ DASHBOARD_SESSION_IDLE: '1m', DASHBOARD_SESSION_LIFETIME: '1s' });
  await desk.startProvider();
  const { browser } = await signIn(desk);
  await expect.poll(() => isOpen(desk, browser), { timeout: 10_000 }).toBe(false);
  expect(browser.cookies.has(SESSION)).toBe(false);
});

test('who signs out is out: the cookie is gone, and worth nothing to who kept it', async () => {
  const desk = await openDesk();
  await desk.startProvider();
  const { browser, page } = await signIn(desk);
  const kept = browser.cookies.get(SESSION)!;
  const out = await browser.submit(page, '/sign-out', {});
  expect(out.url.pathname).toBe('/signed-out');
  expect(browser.cookies.has(SESSION)).toBe(false);
  const leave = out.document.querySelectorAll('a').find((link) => link.text.includes('as well'));
  expect(leave!.getAttribute('href')).toBe(`${desk.issuer}/session/end?client_id=dashboard`);
  const thief = new CookieBrowser();
  thief.cookies.set(SESSION, kept);
  expect(await isOpen(desk, thief)).toBe(false);
});

test('nobody is signed out by another site, nor by a form of another session', async () => {
  const desk = await openDesk();
  await desk.startProvider();
  const { browser, page } = await signIn(desk);
  const other = await signIn(desk);
  const theirs = other.page.document.querySelector('form[action="/sign-out"] input')!.getAttribute('value')!;
  for (const action of ['/sign-out', '/account/sign-out-everywhere']) {
    for (const _csrf of ['', 'x', theirs]) {
      expect((await browser.submit(page, action, { _csrf })).status).toBe(403);
    }
    const target = new URL(action, desk.baseUrl);
    expect((await browser.open(target, { method: 'POST' })).status).toBe(403);
    expect((await browser.open(target)).status).toBe(404);
  }
  expect(await isOpen(desk, browser)).toBe(true);
});

test('who signs out where the session is over already is told the same', async () => {
  const desk = await openDesk();
  await desk.startProvider();
  const { browser, page } = await signIn(desk);
  const second = new CookieBrowser();
  second.cookies.set(SESSION, browser.cookies.get(SESSION)!);
  await second.submit(page, '/sign-out', {});
  expect((await browser.submit(page, '/sign-out', {})).url.pathname).toBe('/signed-out');
  expect(browser.cookies.has(SESSION)).toBe(false);
  expect((await browser.submit(page, '/sign-out', {})).url.pathname).toBe('/signed-out');
});

test('signing out everywhere ends every browser’s session, and nobody else’s', async () => {
  const desk = await openDesk();
  await desk.startProvider();
  const [first, second] = [await signIn(desk), await signIn(desk)];
  const other = await desk.signIn({});
  const out = await first.browser.submit(first.page, '/sign-out-everywhere', {});
  expect(`${out.url.pathname}${out.url.search}`).toBe('/signed-out?everywhere');
  for (const { browser } of [first, second]) expect(await isOpen(desk, browser)).toBe(false);
  expect((await other.get('/account')).status).toBe(200);
});

test('a person sees her open sessions and ends one of them, never another person’s', async () => {
  const desk = await openDesk();
  await desk.startProvider();
  const [first, second] = [await signIn(desk), await signIn(desk)];
  const page = await first.browser.open(`${desk.baseUrl}/account`);
  const ends = page.document.querySelectorAll('table form').map((form) => form.getAttribute('action')!);
  expect(ends).toHaveLength(2);
  // Newest first.
  const ended = await first.browser.submit(page, ends[0]!, {});
  expect(ended.text).toContain('The session has ended.');
  expect(await isOpen(desk, second.browser)).toBe(false);
  expect(await isOpen(desk, first.browser)).toBe(true);
  const other = await desk.signIn({});
  await other.submit('/account', 'end', {});
  expect((await other.get('/account')).path).toContain('/sign-in');
  const stranger = await desk.signIn({});
  await stranger.post(ends[1]!, stranger.proof());
  expect(await isOpen(desk, first.browser)).toBe(true);
});

test('the provider signs people out too, when they ask it to', async () => {
  const desk = await openDesk();
  await desk.startProvider();
  const { browser, page } = await signIn(desk);
  const out = await browser.submit(page, '/sign-out', {});
  const leave = out.document.querySelectorAll('a').find((link) => link.text.includes('as well'));
  const question = await browser.open(leave!.getAttribute('href')!);
  expect(question.status).toBe(200);
  const done = await browser.submit(question, '/session/end/confirm', { logout: 'yes' });
  expect(done.text).toContain('You are signed out of the identity provider.');
  expect((await goToProvider(desk, browser)).url.pathname).toMatch(/^\/interaction\//);
});

test('the language that was chosen is kept, whatever the browser asks for, and leads nowhere else', async () => {
  const desk = await openDesk();
  const browser = new CookieBrowser();
  const english = await browser.open(`${desk.baseUrl}/sign-in`);
  expect(english.document.querySelector('html')!.getAttribute('lang')).toBe('en');
  const link = english.document.querySelector('a[lang="pt-BR"]')!.getAttribute('href')!;
  const portuguese = await browser.open(new URL(link, desk.baseUrl));
  expect(portuguese.url.pathname).toBe('/sign-in');
  expect(portuguese.text).toContain('Entrar no painel');
  const away = await browser.open(`${desk.baseUrl}/language?to=en&return=//evil.example`);
  expect(away.url.origin).toBe(desk.baseUrl);
  expect((await browser.open(`${desk.baseUrl}/language?to=xx`)).status).toBe(400);
});
