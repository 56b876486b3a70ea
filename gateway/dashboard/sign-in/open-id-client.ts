import * as oidc from 'openid-client';
import { isSecureAddress } from '../session/secure-address.ts';
import type { SignInFlow } from './sign-in-flows.ts';

const TIMEOUT_S = 5;
const LONGEST_EMAIL = 254;
const LONGEST_NAME = 200;

/** For whom the provider vouches. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  /** Empty when the provider does not tell it. */
  readonly email: string;
  readonly emailVerified: boolean;
  /** Empty when the provider does not tell it. */
  readonly name: string;
}

export interface OpenIdClientOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret: string | undefined;
  /** Where the provider sends people back to, once the dashboard listens. */
  readonly redirectUri: () => string;
}

/**
 * The dashboard as an OpenID provider's client. The provider is asked for its addresses when they are first needed, and
 * again after a failure, so that either may start first. Methods throw what openid-client throws.
 */
export class OpenIdClient {
  readonly #options: OpenIdClientOptions;
  #discovered: Promise<oidc.Configuration> | undefined;

  constructor(options: OpenIdClientOptions) {
    this.#options = options;
  }

  /** Where a browser goes to sign in. */
  async authorizationUrl({ state, nonce, codeVerifier }: SignInFlow, language: string): Promise<string> {
    const url = oidc.buildAuthorizationUrl(await this.#provider(), {
      redirect_uri: this.#options.redirectUri(),
      scope: 'openid email profile',
      code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      ui_locales: language,
      ...{ state, nonce },
    });
    return url.href;
  }

  /** Who came back. `search` is the query that the provider sent, with its question mark. */
  async identify(search: string, { state, nonce, codeVerifier }: SignInFlow): Promise<Identity> {
    const provider = await this.#provider();
    // Never from the request's host, which anybody may write.
    const url = new URL(this.#options.redirectUri());
    url.search = search;
    const tokens = await oidc.authorizationCodeGrant(provider, url, {
      ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier },
      idTokenExpected: true,
    });
    const { iss, sub, ...claims } = tokens.claims()!;
    const tellsMore = claims.email === undefined && provider.serverMetadata().userinfo_endpoint !== undefined;
    const said = tellsMore ? await oidc.fetchUserInfo(provider, tokens.access_token, sub) : claims;
    return {
      issuer: iss,
      subject: sub,
      ...addressOf(said),
      name: [...textOf(said.name)].slice(0, LONGEST_NAME).join(''),
    };
  }

  /** Where one signs out of the provider itself; undefined when it has no such place or is away. */
  async endSessionUrl(): Promise<string | undefined> {
    const provider = await this.#provider().catch(() => undefined);
    if (!provider?.serverMetadata().end_session_endpoint) return undefined;
    return oidc.buildEndSessionUrl(provider).href;
  }

  #provider(): Promise<oidc.Configuration> {
    this.#discovered ??= this.#discover().catch((error) => {
      this.#discovered = undefined;
      throw error;
    });
    return this.#discovered;
  }

  #discover(): Promise<oidc.Configuration> {
    const { clientId, clientSecret } = this.#options;
    const issuer = new URL(this.#options.issuer);
    const isHere = issuer.protocol === 'http:' && isSecureAddress(issuer.href);
    return oidc.discovery(issuer, clientId, undefined, authentication(clientSecret), {
      timeout: TIMEOUT_S,
      // Signatures of ID tokens are checked too, though they come from the provider itself.
      execute: [oidc.enableNonRepudiationChecks, ...(isHere ? [oidc.allowInsecureRequests] : [])],
    });
  }
}

/** In the way that the provider takes; in the header where it takes both. */
function authentication(secret: string | undefined): oidc.ClientAuth {
  if (secret === undefined) return oidc.None();
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const ways = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (ways.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}

/** As it was told or not at all: one that is mended is another's. Some providers write the boolean as text. */
function addressOf(said: Record<string, unknown>): Pick<Identity, 'email' | 'emailVerified'> {
  const email = textOf(said.email);
  if (email !== said.email || email.length > LONGEST_EMAIL) return { email: '', emailVerified: false };
  return { email, emailVerified: email !== '' && [true, 'true'].includes(said.email_verified as boolean) };
}

/** Without what no database keeps. */
const textOf = (claim: unknown) =>
  typeof claim === 'string' ? claim.replaceAll(/\p{Cc}/gu, '').toWellFormed() : '';
