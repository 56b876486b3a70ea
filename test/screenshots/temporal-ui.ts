import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../support/chromium.ts';

const VIEWPORT = { width: 1280, height: 800 };
/** For animations and counters to settle. */
const SETTLE_MS = 1_500;

/** The Temporal UI in a real browser, as an operator sees and uses it. */
export class TemporalUi implements AsyncDisposable {
  readonly #browser: Browser;
  readonly #page: Page;
  readonly #workflows: string;
  readonly #folder: string;

  private constructor(browser: Browser, page: Page, workflows: string, folder: string) {
    this.#browser = browser;
    this.#page = page;
    this.#workflows = workflows;
    this.#folder = folder;
  }

  /** @param folder where its pictures go. */
  static async open(ui: string, namespace: string, folder: string): Promise<TemporalUi> {
    mkdirSync(folder, { recursive: true });
    const browser = await launchChromium();
    const page = await browser.newPage({ viewport: VIEWPORT, timezoneId: 'UTC', reducedMotion: 'reduce' });
    page.setDefaultTimeout(60_000);
    return new TemporalUi(browser, page, `${ui}/namespaces/${namespace}/workflows`, folder);
  }

  /** Searches workflows, as typed into the raw query; resolves once this many, or more, are listed. */
  async search(query: string, atLeast: number): Promise<void> {
    await this.#page.goto(`${this.#workflows}?query=${encodeURIComponent(query)}`);
    const rows = this.#page.locator('table a[href*="/workflows/"]');
    await rows.nth(atLeast - 1).waitFor();
    await this.#page.getByRole('button', { name: 'Collapse saved views' }).click();
  }

  /** Opens a workflow by its link; resolves once it is shown, and fails if it does not exist. */
  async follow(url: string): Promise<void> {
    await this.#page.goto(url);
    const id = decodeURIComponent(new URL(url).pathname.split('/').at(-1)!);
    await this.#page.getByRole('heading', { name: id }).waitFor();
  }

  /** Opens a workflow at its pending activities; resolves once one of them shows the text. */
  async pendingActivities(id: string, text: RegExp): Promise<void> {
    await this.#tab(id, 'Pending Activities');
    await this.#page.getByText(text).filter({ visible: true }).first().waitFor();
  }

  /** Opens a workflow at its summary and details; resolves once the current details show the text. */
  async details(id: string, text: RegExp): Promise<void> {
    await this.#tab(id, 'User Metadata');
    await this.#page.locator('iframe').last().contentFrame().getByText(text).first().waitFor();
  }

  async #tab(id: string, tab: string): Promise<void> {
    await this.follow(`${this.#workflows}/${id}`);
    await this.#page
      .getByRole('tab', { name: tab })
      .or(this.#page.getByRole('link', { name: tab }))
      .first()
      .click();
  }

  /** Opens the dialog that signals the open workflow, with the signals to choose from. */
  async askSignal(): Promise<void> {
    await this.#page.getByRole('button', { name: 'More Actions' }).first().click();
    await this.#page.getByRole('menuitem', { name: 'Send a Signal' }).first().click();
    await this.#dialog.getByTestId('signal-select-button').click();
  }

  async chooseSignal(name: string): Promise<void> {
    await this.#dialog.getByRole('option', { name }).click();
  }

  async askCancellation(): Promise<void> {
    await this.#page.getByRole('button', { name: 'Request Cancellation' }).first().click();
  }

  /** Presses the button of the open dialog. */
  async press(button: 'Submit' | 'Confirm'): Promise<void> {
    await this.#dialog.getByRole('button', { name: button }).click();
  }

  get #dialog() {
    return this.#page.locator('dialog[open]');
  }

  /** Saves the current view as `<name>.png`. */
  async picture(name: string): Promise<void> {
    await this.#page.waitForTimeout(SETTLE_MS);
    await this.#page.screenshot({ path: join(this.#folder, `${name}.png`), animations: 'disabled' });
    console.log(`${name}.png`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
  }
}
