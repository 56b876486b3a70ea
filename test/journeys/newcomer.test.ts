import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGrpcTransport } from '@connectrpc/connect-node';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { writeDemoTenant } from '../../local/demo/demo-data.ts';
import type { DemoFile } from '../../local/demo/demo-file.ts';
import { findFreePort } from '../../local/ports.ts';
import { textTable } from '../../local/text-table.ts';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { bearer } from '../../services/platform/rpc/remote-transport.ts';
import { startWholeSystem, temporaryDataDir, type WholeSystem } from '../contract/whole-system.ts';
import { minorOf, readCsv, sumOf } from '../gateway/dashboard/exports/read-csv.ts';
import { sharedChromium } from '../support/chromium.ts';
import { testWorkflowBundles } from '../support/temporal-namespace.ts';

/** The first minutes with `npm start`: counts every command and click, and prints how long it took. */

const MOST_STEPS = 10;
const SALES_ONLY = { sales: 40, refundCases: 0, pastAdvances: 0, openAdvances: 0 };
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const data = temporaryDataDir();
let system: WholeSystem;
let demo: DemoFile;
beforeAll(async () => {
  const demoFile = join(data.path, 'demo.json');
  const merchant = { merchantId: randomUUID() };
  // With merchants in the file, `npm start` writes no demo data: these journeys need only sales, and only in live.
  const merchants = { live: merchant, sandbox: merchant, other: { merchantId: randomUUID() } };
  writeFileSync(demoFile, JSON.stringify(merchants));
  system = await startWholeSystem(data.path, testWorkflowBundles());
  demo = JSON.parse(readFileSync(demoFile, 'utf8'));
  const { baseUrl, token } = system.grpc;
  const transport = createGrpcTransport({ baseUrl, interceptors: [bearer(token)] });
  const tenant = { ...merchant, environment: Environment.LIVE };
  await writeDemoTenant(transport, tenant, new Date(), SALES_ONLY);
}, 600_000);
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  data[Symbol.dispose]();
});

/** The steps of a person, with their own browser and terminals. */
class Person {
  readonly page: Page;
  readonly #startedAt = performance.now();
  readonly #steps: string[][] = [];

  private constructor(page: Page) {
    this.page = page;
  }

  static async withBrowser(): Promise<Person> {
    const options = { baseURL: demo.dashboard.baseUrl, locale: 'en', acceptDownloads: true };
    const context: BrowserContext = await (await sharedChromium()).newContext(options);
    onTestFinished(() => context.close());
    return new Person(await context.newPage());
  }

  /** Signs in as the demo's administrator, with what `npm start` has printed. */
  async signIn(): Promise<void> {
    await this.page.goto('/');
    await this.click(this.page.getByRole('link', { name: /^Sign in with/ }));
    await this.page.locator('input[name="email"]').fill(demo.dashboard.email!);
    await this.page.locator('input[type="password"]').fill(demo.dashboard.password!);
    await this.click(this.page.getByRole('button', { name: 'Sign in' }));
    await this.page.waitForURL(`${demo.dashboard.baseUrl}/**`);
  }

  async click(target: Locator): Promise<void> {
    const name = (await target.textContent())!.trim();
    await target.click();
    this.#record(`click "${name}"`);
  }

  async download(link: Locator) {
    const download = this.page.waitForEvent('download');
    await this.click(link);
    return readCsv(await readFile(await (await download).path(), 'utf8'), 'intl');
  }

  /** Runs a command in a terminal until its output matches; it keeps running until the test is over. */
  async run(command: string, prints: RegExp) {
    const child = spawn('sh', ['-c', command], {
      cwd: ROOT,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => endGroup(child));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const printed = async (pattern: RegExp) => {
      await expect.poll(() => output).toMatch(pattern);
      return pattern.exec(output)!;
    };
    const found = await printed(prints);
    this.#record(command.split('\n').at(-1)!.slice(0, 60));
    return { found, printed };
  }

  /** Prints the steps, and asserts that they are few. `before`: the steps that only cost machine time. */
  async conclude(before: number): Promise<void> {
    this.#record('(what the last step leads to)');
    console.info(textTable([['step', 's since the start'], ...this.#steps]));
    expect(before + this.#steps.length - 1).toBeLessThanOrEqual(MOST_STEPS);
  }

  #record(step: string): void {
    this.#steps.push([step, ((performance.now() - this.#startedAt) / 1_000).toFixed(1)]);
  }
}

/** Ends a shell and its child processes. */
function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, 'SIGTERM');
  } catch {
    // It has ended by itself.
  }
}

test('a newcomer receives and verifies a webhook on their own machine in at most ten commands and clicks', async () => {
  const newcomer = await Person.withBrowser();
  const { page } = newcomer;
  await newcomer.signIn();
  await newcomer.click(page.getByRole('link', { name: 'Sandbox' }).first());
  await newcomer.click(page.getByRole('button', { name: 'Create sandbox key' }));
  const command = (await page.locator('.copyable-block code').textContent())!;

  // Port 3000 may be taken on the machine of the tests.
  const port = await findFreePort();
  const listener = await newcomer.run(command.replace(':3000/', `:${port}/`), /Signing secret: (whsec_\S+)/);
  const secret = listener.found[1]!;
  const receiver = await newcomer.run(
    `PORT=${port} WEBHOOK_SECRET=${secret} node gateway/docs/verify-webhook/receive-webhooks.mjs`,
    /listening on/,
  );
  await newcomer.click(page.getByRole('link', { name: 'Simulate an event' }));
  await newcomer.click(page.getByRole('button', { name: 'Open case' }));

  const [, eventId] = await receiver.printed(/^verified refund\.requested\.v1 (\S+)$/m);
  await listener.printed(new RegExp(`204 +refund\\.requested\\.v1 +\\d+ ms +${eventId}`));
  // git clone, and npm ci && npm start.
  await newcomer.conclude(2);
});

test('a finance person reconciles a month to the cent with the CSV files in at most ten clicks', async () => {
  const person = await Person.withBrowser();
  const { page } = person;
  await person.signIn();
  const ofMerchant = page.locator(`a[href^="/live/${demo.live.merchantId}"]`);
  await person.click(ofMerchant.filter({ hasText: 'Live' }).first());
  await person.click(page.getByRole('link', { name: 'Receivables', exact: true }));
  await person.click(page.getByRole('link', { name: 'Reconcile' }));
  const [from, to] = monthBefore(new Date());
  await page.locator('#from').fill(from);
  await page.locator('#to').fill(to);
  await person.click(page.getByRole('button', { name: 'Show' }));
  const csvOf = (section: string) =>
    person.download(
      page
        .locator(`section[aria-labelledby=${section}] .downloads`)
        .getByRole('link', { name: 'International' }),
    );
  const [statement, sales] = [await csvOf('statement'), await csvOf('sales')];

  const [opening, closing] = [statement[0]!, statement.at(-1)!];
  for (const part of ['available', 'scheduled', 'blocked', 'total']) {
    const balance = `${part}_balance`;
    expect(minorOf(opening[balance]!) + sumOf(statement, `${part}_change`)).toBe(minorOf(closing[balance]!));
  }
  const sold = statement.filter(({ kind }) => kind === 'SALE');
  expect(sold.length).toBeGreaterThan(5);
  expect(sumOf(sold, 'total_change')).toBe(sumOf(sales, 'net_amount'));
  await person.conclude(0);
});

/** The first and the last day of the month before a date. */
function monthBefore(date: Date): [string, string] {
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
  return [dayOf(Date.UTC(year, month - 1, 1)), dayOf(Date.UTC(year, month, 0))];
}
