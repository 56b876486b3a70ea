import { randomUUID } from 'node:crypto';
import type { DemoPerson } from '../../../../local/oidc/demo-people.ts';
import { type OidcProvider, startOidcProvider } from '../../../../local/oidc/openid-provider.ts';
import { loadProviderSecrets, type ProviderSecrets } from '../../../../local/oidc/provider-secrets.ts';
import { findFreePort } from '../../../../local/ports.ts';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { temporaryDataFolder } from '../../../local/temporary-data-folder.ts';
import { type DashboardFixture, startDashboardFixture } from '../dashboard-fixture.ts';
import { CookieBrowser, type OpenedPage } from './cookie-browser.ts';

export const SESSION = '__Host-session';

const PERSON = { subject: randomUUID(), email: 'ana@shop.example', name: 'Ana', role: Role.ADMIN };

/** Dashboard, services and the provider with which people sign in. */
export interface SignInFixture extends DashboardFixture {
  readonly issuer: string;
  readonly secrets: ProviderSecrets;
  /** Who can sign in. */
  readonly person: typeof PERSON;
  /** Starts the provider with its stored state. */
  startProvider(): Promise<OidcProvider>;
}

/** Starts services and dashboard; the provider is not there yet. */
export async function startSignInFixture(overrides: Record<string, string> = {}): Promise<SignInFixture> {
  const data = temporaryDataFolder();
  const port = await findFreePort();
  const issuer = `http://127.0.0.1:${port}`;
  const secrets = loadProviderSecrets(data.folder, [PERSON]);
  const fixture = await startDashboardFixture({
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: 'dashboard',
    OIDC_CLIENT_SECRET: secrets.clientSecret,
    ...overrides,
  });
  let provider: OidcProvider | undefined;
  return {
    ...fixture,
    issuer,
    secrets,
    person: PERSON,
    async startProvider() {
      provider = await startOidcProvider({
        folder: data.folder,
        secrets,
        people: [PERSON],
        port,
        clientId: 'dashboard',
        clientSecret: secrets.clientSecret,
        dashboardUrl: fixture.baseUrl,
        redirectUri: `${fixture.baseUrl}/sign-in/callback`,
      });
      return provider;
    },
    async close() {
      await fixture.close();
      await provider?.stop().catch(() => undefined);
      data[Symbol.dispose]();
    },
  };
}

/** Where a person signs in, and who. */
export interface SignInPlace {
  /** The dashboard's address, without a trailing slash. */
  readonly baseUrl: string;
  readonly secrets: Pick<ProviderSecrets, 'passwords'>;
  readonly person: Pick<DemoPerson, 'subject' | 'email'>;
}

/** Goes from the dashboard's page to the provider's form, like a person. */
export async function goToProvider(
  { baseUrl }: Pick<SignInPlace, 'baseUrl'>,
  browser: CookieBrowser,
  path = '/account',
) {
  const wayIn = await browser.open(`${baseUrl}/sign-in?return=${encodeURIComponent(path)}`);
  const start = wayIn.document.querySelector('a.button')!.getAttribute('href')!;
  return browser.open(new URL(start, baseUrl));
}

/** Fills the provider's form in. */
export function fillIn(
  { secrets, person }: Omit<SignInPlace, 'baseUrl'>,
  browser: CookieBrowser,
  form: OpenedPage,
  until?: (url: URL) => boolean,
): Promise<OpenedPage> {
  return browser.submit(
    form,
    '',
    { email: person.email, password: secrets.passwords[person.subject]! },
    until,
  );
}

/** Signs the person in with a new browser, or the one that is given. */
export async function signIn(place: SignInPlace, browser = new CookieBrowser(), path = '/account') {
  const page = await fillIn(place, browser, await goToProvider(place, browser, path));
  return { browser, page };
}
