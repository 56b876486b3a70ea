import type { Transport } from '@connectrpc/connect';
import { CALLBACK_PATH } from '../../gateway/dashboard/sign-in/sign-in.routes.ts';
import type { Config } from '../../services/platform/process/config.ts';
import type { DataFolder } from '../data-folder.ts';
import { DEMO_PEOPLE } from '../oidc/demo-people.ts';
import { type OidcProvider, startOidcProvider } from '../oidc/openid-provider.ts';
import { loadProviderSecrets, type ProviderSecrets } from '../oidc/provider-secrets.ts';
import { makeDemoMembers } from './data/demo-members.ts';

/** How the dashboard's people sign in on this machine when no provider is given: one of our own, and who they are. */
export class DemoSignIn {
  /** The settings by which the dashboard finds the provider. */
  readonly settings: Pick<Config, 'OIDC_ISSUER' | 'OIDC_CLIENT_ID' | 'OIDC_CLIENT_SECRET'>;
  readonly #folder: DataFolder;
  readonly #port: number;
  readonly #secrets: ProviderSecrets;

  constructor(folder: DataFolder, { OIDC_PORT, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET }: Config) {
    this.#folder = folder;
    this.#port = OIDC_PORT;
    this.#secrets = loadProviderSecrets(folder, DEMO_PEOPLE);
    this.settings = {
      ...{ OIDC_ISSUER: `http://127.0.0.1:${OIDC_PORT}`, OIDC_CLIENT_ID },
      OIDC_CLIENT_SECRET: OIDC_CLIENT_SECRET ?? this.#secrets.clientSecret,
    };
  }

  /** The first of the demo's people, as demo.json names her. */
  get access(): { readonly email: string; readonly password: string } {
    const [{ email, subject }] = DEMO_PEOPLE;
    return { email, password: this.#secrets.passwords[subject]! };
  }

  /** Starts the provider, which sends people back to the dashboard at this address. */
  start(dashboardUrl: string): Promise<OidcProvider> {
    return startOidcProvider({
      ...{ folder: this.#folder, secrets: this.#secrets, people: DEMO_PEOPLE, port: this.#port },
      clientId: this.settings.OIDC_CLIENT_ID,
      clientSecret: this.settings.OIDC_CLIENT_SECRET!,
      ...{ dashboardUrl, redirectUri: `${dashboardUrl}${CALLBACK_PATH}` },
    });
  }

  /** Makes the demo's people members of these merchants, once. */
  makeMembers(transport: Transport, merchantIds: readonly string[]): Promise<void> {
    return makeDemoMembers(transport, this.settings.OIDC_ISSUER!, DEMO_PEOPLE, merchantIds);
  }
}
