import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { sharedChromium } from '../../../support/chromium.ts';
import { accessibilityFaults, expectToFit } from '../chromium-fixture.ts';
import { SESSION, startSignInFixture } from './sign-in-fixture.ts';

const fixture = await startSignInFixture();
await fixture.startProvider();
const chromium = await sharedChromium();
afterAll(async () => {
  await fixture.close();
});

/** A window that records every request and error. */
async function openWindow(options: { javaScriptEnabled: boolean; width?: number }) {
  const { javaScriptEnabled, width = 1280 } = options;
  const context = await chromium.newContext({
    locale: 'en',
    javaScriptEnabled,
    viewport: { width, height: 800 },
  });
  const page = await context.newPage();
  const [asked, complaints] = [new Set<string>(), [] as string[]];
  page.on('request', (request) => asked.add(new URL(request.url()).origin));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return { context, page, asked, complaints };
}

async function signIn(page: Page): Promise<void> {
  const { person, secrets, baseUrl } = fixture;
  await page.goto(`${baseUrl}/account`);
  await page.getByRole('link', { name: /^Sign in with/ }).click();
  await page.getByLabel('Email').fill(person.email);
  await page.getByLabel('Password').fill(secrets.passwords[person.subject]!);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${baseUrl}/account`);
}

const sessionOf = async (context: BrowserContext) =>
  (await context.cookies(fixture.baseUrl)).find(({ name }) => name === SESSION);

test.each([true, false])(
  'a person signs in, opens the account page and signs out in Chromium, with scripts: %s',
  async (javaScriptEnabled) => {
    const { context, page, asked, complaints } = await openWindow({ javaScriptEnabled });
    await signIn(page);
    expect(await sessionOf(context)).toMatchObject({
      httpOnly: true,
      secure: true,
      sameSite: 'Lax',
      path: '/',
    });
    expect(await page.getByText('this browser').count()).toBe(1);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL(`${fixture.baseUrl}/signed-out`);
    expect(await sessionOf(context)).toBeUndefined();
    // The button back in time leads nowhere.
    await page.goBack();
    await page.reload();
    await page.waitForURL(/\/sign-in\?return=/);
    expect([...asked].toSorted()).toEqual([fixture.baseUrl, fixture.issuer].toSorted());
    expect(complaints).toEqual([]);
    await context.close();
  },
);

test('a form sent with an expired session leads to sign-in, and back', async () => {
  const { context, page, complaints } = await openWindow({ javaScriptEnabled: true });
  await signIn(page);
  const other = await openWindow({ javaScriptEnabled: true });
  await other.context.addCookies(await context.cookies());
  await other.page.goto(`${fixture.baseUrl}/account`);
  await other.page.getByText('Sign out of all browsers').click();
  await other.page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await other.page.waitForURL(/signed-out\?everywhere/);
  await other.context.close();
  await page.getByRole('button', { name: 'End' }).click();
  await page.getByRole('link', { name: /^Sign in with/ }).click();
  await page.waitForURL(`${fixture.baseUrl}/account`);
  expect(await sessionOf(context)).toBeDefined();
  expect(complaints).toEqual([]);
  await context.close();
});

test('axe finds nothing on the sign-in and sign-out pages, which fit wide and narrow windows', async () => {
  const { context, page } = await openWindow({ javaScriptEnabled: true });
  const look = async () => {
    expect(await accessibilityFaults(page)).toEqual([]);
    await expectToFit(page, [320]);
  };
  await page.goto(`${fixture.baseUrl}/sign-in`);
  await look();
  await page.getByRole('link', { name: /^Sign in with/ }).click();
  await page.getByLabel('Email').waitFor();
  await look();
  await page.goto(`${fixture.baseUrl}/sign-in/callback?state=x`);
  await look();
  await signIn(page);
  await look();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.waitForURL(`${fixture.baseUrl}/signed-out`);
  await look();
  await page.getByRole('link', { name: /as well/ }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await look();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out of the identity provider.').waitFor();
  await look();
  await context.close();
});
