import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { accessibilityFaults, expectToFit, openWindow } from '../chromium-fixture.ts';
import { SESSION, startSignInFixture } from './sign-in-fixture.ts';

const fixture = await startSignInFixture();
await fixture.startProvider();
afterAll(() => fixture.close());

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
    const options = { javaScriptEnabled };
    const { context, page, foreign, violations } = await openWindow(fixture.baseUrl, undefined, options);
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
    expect(new Set(foreign.map((url) => new URL(url).origin))).toEqual(new Set([fixture.issuer]));
    expect(violations).toEqual([]);
  },
);

test('a form sent with an expired session leads to sign-in, and back', async () => {
  const { context, page, violations } = await openWindow(fixture.baseUrl, undefined);
  await signIn(page);
  const other = await openWindow(fixture.baseUrl, undefined);
  await other.context.addCookies(await context.cookies());
  await other.page.goto(`${fixture.baseUrl}/account`);
  await other.page.getByText('Sign out of all browsers').click();
  await other.page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await other.page.waitForURL(/signed-out\?everywhere/);
  await page.getByRole('button', { name: 'End' }).click();
  await page.getByRole('link', { name: /^Sign in with/ }).click();
  await page.waitForURL(`${fixture.baseUrl}/account`);
  expect(await sessionOf(context)).toBeDefined();
  expect(violations).toEqual([]);
});

test('axe finds nothing on the sign-in and sign-out pages, which fit wide and narrow windows', async () => {
  const { page } = await openWindow(fixture.baseUrl, undefined);
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
});
