import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@connectrpc/connect';
import { type OidcProvider, startOidcProvider } from '../../../local/oidc/openid-provider.ts';
import { loadProviderSecrets } from '../../../local/oidc/provider-secrets.ts';
import { findFreePort } from '../../../local/ports.ts';
import { AccountService, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { CookieBrowser, type OpenedPage } from '../../gateway/dashboard/sign-in/cookie-browser.ts';
import { SESSION, signIn } from '../../gateway/dashboard/sign-in/sign-in-fixture.ts';
import { temporaryDataFolder } from '../../local/temporary-data-folder.ts';
import { newWrite, type TestTenant } from '../../support/harness.ts';
import type { Read } from './load.ts';
import { MIN_LENGTH } from './secrets.ts';
import type { SeparateSystem } from './separate-system.ts';

const CLIENT_ID = 'dashboard';
const PERSON = { subject: randomUUID(), email: 'ana@shop.example', name: 'Ana', role: Role.ADMIN };

/** A person with a browser, and the OpenID provider that knows them. */
export class DashboardPerson implements AsyncDisposable {
  readonly #data = temporaryDataFolder();
  readonly #secrets = loadProviderSecrets(this.#data.folder, [PERSON]);
  readonly #browser = new CookieBrowser();
  readonly #port: number;
  #provider: OidcProvider | undefined;
  #baseUrl = '';
  #home = '';

  private constructor(port: number) {
    this.#port = port;
  }

  static async create(): Promise<DashboardPerson> {
    return new DashboardPerson(await findFreePort());
  }

  /** The variables of .env with which they can sign in. */
  get settings() {
    const issuer = `http://127.0.0.1:${this.#port}`;
    return {
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: CLIENT_ID,
      OIDC_CLIENT_SECRET: this.#secrets.clientSecret,
    };
  }

  /** Signs in, and accepts the invitation of a merchant of the sandbox. */
  async join({ dashboardUrl, transport }: SeparateSystem, tenant: TestTenant): Promise<void> {
    this.#provider = await startOidcProvider({
      folder: this.#data.folder,
      secrets: this.#secrets,
      people: [PERSON],
      port: this.#port,
      clientId: CLIENT_ID,
      clientSecret: this.#secrets.clientSecret,
      dashboardUrl,
      redirectUri: `${dashboardUrl}/sign-in/callback`,
    });
    const { email, role } = PERSON;
    const invitation = { ...newWrite(tenant), email, role };
    await createClient(AccountService, transport).inviteMember(invitation);
    this.#baseUrl = dashboardUrl;
    this.#home = `/sandbox/${tenant.merchantId}`;
    const place = { baseUrl: dashboardUrl, secrets: this.#secrets, person: PERSON };
    const { page } = await signIn(place, this.#browser, '/');
    await this.#submit(page, '/accept');
  }

  /** Quotes all that can be advanced, confirms the amount, and requests it. @returns the request's id. */
  async requestAdvance(confirmed: string): Promise<string> {
    const form = await this.#browser.open(`${this.#baseUrl}${this.#home}/advances/new`);
    const quote = await this.#submit(form, '/advances/new');
    const { url } = await this.#submit(quote, '/advances/request', { confirmed });
    return url.pathname.split('/').at(-1)!;
  }

  /** A page of the merchant in the sandbox, as their browser requests it. */
  read(path: string): Read {
    const cookie = `${SESSION}=${this.#browser.cookies.get(SESSION)!.value}`;
    return { path: `${this.#home}${path}`, port: 'dashboardPort', headers: { cookie } };
  }

  /** Their password, session, and the proofs of their sign-in: cookies, and the provider's codes and tokens. */
  get secrets(): string[] {
    const database = new DatabaseSync(this.#data.folder.privateFile('oidc-provider.db'), { readOnly: true });
    const issued = database.prepare('select id from record').all();
    database.close();
    // A sign-in's cookie holds its nonce and verifier between dots.
    const cookies = [...this.#browser.cookieValues].flatMap((value) => value.split('.'));
    const secrets = [
      this.#secrets.passwords[PERSON.subject]!,
      ...issued.map(({ id }) => String(id)),
      ...cookies,
    ];
    return secrets.filter((secret) => secret.length >= MIN_LENGTH);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#provider?.stop();
    this.#data[Symbol.dispose]();
  }

  async #submit(page: OpenedPage, action: string, changed: Readonly<Record<string, string>> = {}) {
    const answer = await this.#browser.submit(page, action, changed);
    if (answer.status !== 200) throw new Error(`${answer.url}: ${answer.status} ${answer.document.text}`);
    return answer;
  }
}
