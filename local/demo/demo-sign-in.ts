import type { Transport } from '@connectrpc/connect';
import { CALLBACK_PATH } from '../../gateway/dashboard/sign-in/sign-in.routes.ts';
import type { Config } from '../../services/platform/process/config.ts';
import type { DataFolder } from '../data-folder.ts';
import { DEMO_PEOPLE } from '../oidc/demo-people.ts';
import { type OidcProvider, startOidcProvider } from '../oidc/openid-provider.ts';
import { loadProviderSecrets, type ProviderSecrets } from '../oidc/provider-secrets.ts';
import { addDemoMembers } from './data/demo-members.ts';

/** Sign-in to the dashboard through an OpenID provider of `npm start`, used when OIDC_ISSUER is not set. */
export class DemoSignIn {
  /** The settings with which the dashboard finds the provider. */
  readonly settings: {
    readonly OIDC_ISSUER: string;
    readonly OIDC_CLIENT_ID: string;
    readonly OIDC_CLIENT_SECRET: string;
  };
  readonly #folder: DataFolder;
  readonly #port: number;
  readonly #secrets: ProviderSecrets;

  constructor(folder: DataFolder, { OIDC_PORT, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET }: Config) {
    this.#folder = folder;
    this.#port = OIDC_PORT;
    this.#secrets = loadProviderSecrets(folder, DEMO_PEOPLE);
    this.settings = {
      OIDC_ISSUER: `http://127.0.0.1:${OIDC_PORT}`,
      OIDC_CLIENT_ID,
      OIDC_CLIENT_SECRET: OIDC_CLIENT_SECRET ?? this.#secrets.clientSecret,
    };
  }

  /** Email and password of the demo's administrator, for demo.json. */
  get access(): { readonly email: string; readonly password: string } {
    const [{ email, subject }] = DEMO_PEOPLE;
    return { email, password: this.#secrets.passwords[subject]! };
  }

  /** Starts the provider, which redirects people to the dashboard at this address. */
  start(dashboardUrl: string): Promise<OidcProvider> {
    return startOidcProvider({
      folder: this.#folder,
      secrets: this.#secrets,
      people: DEMO_PEOPLE,
      port: this.#port,
      clientId: this.settings.OIDC_CLIENT_ID,
      clientSecret: this.settings.OIDC_CLIENT_SECRET,
      dashboardUrl,
      redirectUri: `${dashboardUrl}${CALLBACK_PATH}`,
    });
  }

  /** Adds the demo's people to these merchants, unless they are members already. */
  addMembers(transport: Transport, merchantIds: readonly string[]): Promise<void> {
    return addDemoMembers(transport, this.settings.OIDC_ISSUER, DEMO_PEOPLE, merchantIds);
  }
}
