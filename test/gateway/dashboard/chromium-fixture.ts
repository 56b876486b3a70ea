import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { sharedChromium } from '../../support/chromium.ts';
import type { Visitor } from './dashboard-fixture.ts';

interface WindowOptions {
  readonly javaScriptEnabled?: boolean;
  readonly locale?: string;
  /** 1280 when absent. */
  readonly width?: number;
}

/** A separate window with a person's session, until the test ends. Requests to other hosts fail, and are counted by `foreign`. */
export async function openWindow(
  baseUrl: string,
  visitor: Visitor | undefined,
  { javaScriptEnabled = true, locale = 'en', width = 1280 }: WindowOptions = {},
): Promise<{ context: BrowserContext; page: Page; foreign: string[]; violations: string[] }> {
  const context = await (await sharedChromium()).newContext({
    baseURL: baseUrl,
    javaScriptEnabled,
    locale,
    viewport: { width, height: 900 },
  });
  onTestFinished(() => context.close());
  const foreign: string[] = [];
  const violations: string[] = [];
  // Not routed, which would turn the browser's cache off. The browser reaches no other hosts.
  context.on('request', (request) => {
    if (new URL(request.url()).host !== new URL(baseUrl).host) foreign.push(request.url());
  });
  if (visitor) {
    await context.addCookies([
      {
        name: '__Host-session',
        value: visitor.token,
        url: baseUrl.replace('http:', 'https:'),
        httpOnly: true,
        secure: true,
        sameSite: 'Lax',
      },
    ]);
  }
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error') violations.push(message.text());
  });
  page.on('pageerror', (error) => violations.push(error.message));
  return { context, page, foreign, violations };
}

/** Fields whose text cannot be seen, which axe-core does not look at. */
const UNREADABLE_FIELDS = `[...document.querySelectorAll('input, select, textarea')].filter((field) => {
  const { color, backgroundColor } = getComputedStyle(field);
  return color === backgroundColor;
}).map(({ outerHTML }) => 'unreadable: ' + outerHTML)`;

/** The findings of axe-core on a page, one line each, and fields whose text cannot be seen. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.waitForLoadState();
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>(
    'axe.run(document, { resultTypes: ["violations"] })',
  );
  const unreadable = await page.evaluate<string[]>(UNREADABLE_FIELDS);
  return [
    ...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`),
    ...unreadable,
  ];
}

/** Asserts that a page is no wider than a window of each of these widths. Resizes the window, and back. */
export async function expectToFit(page: Page, widths: readonly number[], name = page.url()): Promise<void> {
  const size = page.viewportSize()!;
  for (const width of [size.width, ...widths.filter((width) => width !== size.width)]) {
    await page.setViewportSize({ ...size, width });
    const overflow = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect({ name, width, overflow }).toEqual({ name, width, overflow: 0 });
  }
  await page.setViewportSize(size);
}
