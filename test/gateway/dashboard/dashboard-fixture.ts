import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { type Client, createClient, type Transport } from '@connectrpc/connect';
import { type HTMLElement, parse } from 'node-html-parser';
import { createDashboard, type Dashboard } from '../../../gateway/dashboard/dashboard.ts';
import { DASHBOARD_CALLER } from '../../../gateway/dashboard/dashboard-caller.ts';
import { csrfTokenOf } from '../../../gateway/dashboard/session/session-cookie.ts';
import type { Language } from '../../../gateway/dashboard/shell/language.ts';
import { AccountService, type Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { newKey, newWrite, startHarness, type TestHarness } from '../../support/harness.ts';

/**
 * There is no provider at this issuer: people get their sessions from the services. All of a test's people have one
 * address.
 */
export const DASHBOARD_SETTINGS = {
  WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  OIDC_ISSUER: 'https://issuer.invalid',
  RATE_LIMIT_ADDRESS: '1000000',
  PUBLIC_URL_LIVE: 'https://api.pay.example',
  PUBLIC_URL_SANDBOX: 'https://sandbox.pay.example',
};

/** The dashboard on real services, and people who use it. */
export interface DashboardFixture {
  readonly harness: TestHarness;
  readonly app: Dashboard;
  readonly baseUrl: string;
  /** Calls as an internal team with every grant. */
  readonly transport: Transport;
  /** Signs in a new person with these roles at these merchants. */
  signIn(roles: Readonly<Record<string, Role>>, email?: string): Promise<Visitor>;
  close(): Promise<void>;
}

let shared: Promise<SharedDashboard> | undefined;

/** The dashboard of this worker, with default settings. Every test creates its own merchants and people. */
export type SharedDashboard = Omit<DashboardFixture, 'close'>;

/** Starts the worker's shared dashboard on first use. It ends with the worker. */
export function sharedDashboard(): Promise<SharedDashboard> {
  shared ??= startDashboardFixture();
  return shared;
}

/** Starts services and dashboard on their own database and ports, for tests that change settings or stop them. */
export async function startDashboardFixture(
  overrides: Record<string, string> = {},
): Promise<DashboardFixture> {
  const harness = await startHarness({ ...DASHBOARD_SETTINGS, ...overrides });
  const dashboard = await dashboardOn(harness);
  return {
    ...dashboard,
    async close() {
      await dashboard.close();
      await harness.close();
    },
  };
}

/** Starts the dashboard on services that have {@link DASHBOARD_SETTINGS}; closing it leaves them running. */
export async function dashboardOn(
  harness: TestHarness,
  logger = createLogger(harness.config.LOG_LEVEL),
): Promise<DashboardFixture> {
  const transport = harness.services.transportFor(DASHBOARD_CALLER);
  const app = await createDashboard({ config: harness.config, transport, logger });
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  const accounts = createClient(AccountService, harness.transports.inProcess);
  return {
    harness,
    app,
    baseUrl,
    transport: harness.transports.inProcess,
    signIn: (roles, email) => signIn(accounts, baseUrl, roles, email),
    close: () => app.close(),
  };
}

/** Signs in a new person with these roles at these merchants. */
export async function signIn(
  accounts: Client<typeof AccountService>,
  baseUrl: string,
  roles: Readonly<Record<string, Role>>,
  email = `${randomUUID()}@people.example`,
): Promise<Visitor> {
  const token = randomBytes(32).toString('base64url');
  const { account } = await accounts.startSession({
    issuer: 'https://issuer.example',
    subject: randomUUID(),
    email,
    emailVerified: true,
    name: 'Ana',
    tokenSha256: createHash('sha256').update(token).digest(),
    ipAddress: '203.0.113.7',
    userAgent: 'test',
  });
  for (const [merchantId, role] of Object.entries(roles)) {
    const tenant = { merchantId, environment: Environment.LIVE };
    // The first member stays an administrator, because a merchant must keep one.
    const { invitation } = await accounts.inviteMember({ ...newWrite(tenant), email, role });
    await accounts.acceptInvitation({
      ...newWrite(tenant),
      invitationId: invitation!.id,
      accountId: account!.id,
    });
  }
  return new Visitor(baseUrl, token, account!.id);
}

/** A page as a browser without scripts sees it. */
export interface SeenPage {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly document: HTMLElement;
  /** Where the last redirect led. */
  readonly path: string;
}

/** A browser without scripts, with one session. */
export class Visitor {
  readonly accountId: string;
  readonly token: string;
  readonly #baseUrl: string;
  readonly #language: Language;

  constructor(baseUrl: string, token: string, accountId: string, language: Language = 'en') {
    this.#baseUrl = baseUrl;
    this.token = token;
    this.accountId = accountId;
    this.#language = language;
  }

  /** The same person, reading in another language. */
  reading(language: Language): Visitor {
    return new Visitor(this.#baseUrl, this.token, this.accountId, language);
  }

  /** The hidden fields of every form of this person. */
  proof(): { _csrf: string; _key: string } {
    return { _csrf: csrfTokenOf(this.token), _key: newKey() };
  }

  /** Makes one request, without following redirects. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (!headers.has('cookie'))
      headers.set('cookie', `__Host-session=${this.token}; language=${this.#language}`);
    return fetch(new URL(path, this.#baseUrl), { redirect: 'manual', ...init, headers });
  }

  /** Opens a page, redirects followed. */
  async get(path: string): Promise<SeenPage> {
    return this.#settle(await this.fetch(path), path);
  }

  /** Sends a form with the given fields, and follows redirects with GET. */
  async post(path: string, fields: Readonly<Record<string, string | readonly string[]>>): Promise<SeenPage> {
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries(fields))
      for (const one of [value].flat()) body.append(name, one);
    return this.#settle(await this.fetch(path, { method: 'POST', body }), path);
  }

  /** Opens a page and submits its form with this action (the end of its path), with some fields changed. */
  async submit(
    page: string | SeenPage,
    action: string,
    changed: Readonly<Record<string, string | readonly string[]>> = {},
  ): Promise<SeenPage> {
    const form = await this.#formOn(page, action);
    return this.post(form.getAttribute('action')!, { ...fieldsOf(form), ...changed });
  }

  /** Opens a page and submits its form with this action (the end of its path) and a file. */
  async attach(page: string | SeenPage, action: string, name: string, content: Buffer): Promise<SeenPage> {
    const form = await this.#formOn(page, action);
    const path = form.getAttribute('action')!;
    const body = multipartOf({ ...fieldsOf(form) }, new File([new Uint8Array(content)], name));
    return this.#settle(await this.fetch(path, { method: 'POST', body }), path);
  }

  async #formOn(page: string | SeenPage, action: string): Promise<HTMLElement> {
    const { document, status } = typeof page === 'string' ? await this.get(page) : page;
    const form = document
      .querySelectorAll('form')
      .find((one) => one.getAttribute('action')?.endsWith(action));
    if (!form) throw new Error(`no form for ${action} on a page of status ${status}: ${document.text}`);
    return form;
  }

  async #settle(response: Response, path: string): Promise<SeenPage> {
    const { status, headers } = response;
    const location = headers.get('location');
    if (location !== null && status >= 300 && status < 400) {
      await response.body?.cancel();
      return this.get(location);
    }
    const text = await response.text();
    return { status, headers, text, document: parse(text), path };
  }
}

/** A form with a file, its fields first, as a browser sends it. */
export function multipartOf(
  { file: _, ...fields }: Readonly<Record<string, string | readonly string[]>>,
  file: File,
): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields))
    for (const one of [value].flat()) body.append(name, one);
  body.append('file', file);
  return body;
}

/** The fields that a browser sends for an untouched form. */
export function fieldsOf(form: HTMLElement): Record<string, string | string[]> {
  const fields: Record<string, string[]> = {};
  const add = (element: HTMLElement, value: string) => {
    const name = element.getAttribute('name');
    if (name) fields[name] = [...(fields[name] ?? []), value];
  };
  for (const input of form.querySelectorAll('input')) {
    const isChoice = ['checkbox', 'radio'].includes(input.getAttribute('type') ?? '');
    if (!isChoice || input.hasAttribute('checked'))
      add(input, input.getAttribute('value') ?? (isChoice ? 'on' : ''));
  }
  for (const area of form.querySelectorAll('textarea')) add(area, area.text);
  for (const select of form.querySelectorAll('select')) {
    const options = select.querySelectorAll('option');
    const chosen = options.find((option) => option.hasAttribute('selected')) ?? options[0];
    if (chosen) add(select, chosen.getAttribute('value') ?? chosen.text);
  }
  return fields;
}
