import * as oidc from 'openid-client';
import { isSecureAddress } from '../session/secure-address.ts';
import { faultOf } from './sign-in-faults.ts';
import type { SignInFlow } from './sign-in-flows.ts';

const TIMEOUT_S = 5;
/**
 * The age up to which the provider's keys are used for another ID token. They are read again with a new discovery before the code
 * is exchanged: openid-client looks for an unknown key at most once a minute, and a code cannot be exchanged twice.
 */
const KEYS_MAX_AGE_MS = 1_000;
/** The difference of the provider's clock that ID tokens may show. */
const CLOCK_TOLERANCE_S = 120;
/** OpenID Connect allows a `sub` of at most 255 characters. */
const MAX_SUBJECT_LENGTH = 255;
const MAX_EMAIL_LENGTH = 254;
const MAX_NAME_LENGTH = 200;

/** A person as identified by the provider. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  /** Empty when the provider does not share it. */
  readonly email: string;
  readonly emailVerified: boolean;
  /** Empty when the provider does not share it. */
  readonly name: string;
}

export interface OpenIdClientOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined;
  /** The callback URL; callable once the dashboard listens. */
  readonly redirectUri: () => string;
}

/**
 * The dashboard's OpenID Connect client. The provider is discovered on first use, for each sign-in, and again after a failure.
 * So dashboard and provider may start in any order, and the provider may replace its keys at any time. Methods throw the
 * errors of openid-client.
 */
export class OpenIdClient {
  readonly #options: OpenIdClientOptions;
  #discovered: Promise<oidc.Configuration> | undefined;
  #discoveredAtMs = 0;

  constructor(options: OpenIdClientOptions) {
    this.#options = options;
  }

  /** The provider's URL to send a browser to. */
  async authorizationUrl({ state, nonce, codeVerifier }: SignInFlow, language: string): Promise<string> {
    const url = oidc.buildAuthorizationUrl(await this.#provider(), {
      redirect_uri: this.#options.redirectUri(),
      scope: 'openid email profile',
      code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      ui_locales: language,
      state,
      nonce,
    });
    return url.href;
  }

  /** Exchanges the code of a callback. `search` is the callback's query, with its question mark. */
  async identify(search: string, { state, nonce, codeVerifier }: SignInFlow): Promise<Identity> {
    const provider = await this.#provider(KEYS_MAX_AGE_MS);
    // Not from the request's Host header, which the client controls.
    const url = new URL(this.#options.redirectUri());
    url.search = search;
    const tokens = await oidc.authorizationCodeGrant(provider, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: codeVerifier,
      idTokenExpected: true,
    });
    const { iss, sub, ...claims } = tokens.claims()!;
    const needsUserInfo =
      claims.email === undefined && provider.serverMetadata().userinfo_endpoint !== undefined;
    const profile = needsUserInfo ? await oidc.fetchUserInfo(provider, tokens.access_token, sub) : claims;
    return {
      issuer: iss,
      subject: subjectOf(sub),
      ...emailOf(profile),
      name: [...textOf(profile.name)].slice(0, MAX_NAME_LENGTH).join(''),
    };
  }

  /** The provider's own sign-out URL; undefined when it has none or is unavailable. */
  async endSessionUrl(): Promise<string | undefined> {
    const provider = await this.#provider().catch(() => undefined);
    if (!provider?.serverMetadata().end_session_endpoint) return undefined;
    return oidc.buildEndSessionUrl(provider).href;
  }

  #provider(maxAgeMs = Number.POSITIVE_INFINITY): Promise<oidc.Configuration> {
    const former = this.#discovered;
    if (former && performance.now() - this.#discoveredAtMs <= maxAgeMs) return former;
    const discovered = this.#discover()
      .catch((error) => {
        // Discovery may be limited or down while the provider still signs people in.
        if (former && faultOf(error) === 'unavailable') return former;
        throw error;
      })
      .catch((error) => {
        if (this.#discovered === discovered) this.#discovered = undefined;
        throw error;
      });
    this.#discovered = discovered;
    this.#discoveredAtMs = performance.now();
    return discovered;
  }

  #discover(): Promise<oidc.Configuration> {
    const { clientId, clientSecret } = this.#options;
    const issuer = new URL(this.#options.issuer);
    const isLoopback = issuer.protocol === 'http:' && isSecureAddress(issuer.href);
    const metadata = { [oidc.clockTolerance]: CLOCK_TOLERANCE_S };
    return oidc.discovery(issuer, clientId, metadata, authentication(clientSecret), {
      timeout: TIMEOUT_S,
      // Check signatures of ID tokens too, even though they come directly from the provider.
      execute: [oidc.enableNonRepudiationChecks, ...(isLoopback ? [oidc.allowInsecureRequests] : [])],
    });
  }
}

/** Client authentication as the provider supports it; in the header when it supports both. */
function authentication(secret: string | undefined): oidc.ClientAuth {
  if (secret === undefined) return oidc.None();
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}

/** Rejects what cannot be stored: shortening or cleaning it could make it another person's. */
function subjectOf(sub: string): string {
  if (sub.length > MAX_SUBJECT_LENGTH || sub.includes('\0') || !sub.isWellFormed())
    throw new oidc.ClientError(
      'the "sub" of the ID token is too long or contains characters that are not text',
    );
  return sub;
}

/**
 * The email claim, unless cleaning it would change it: the result could be another person's address. Some providers
 * send `email_verified` as text.
 */
function emailOf(profile: Record<string, unknown>): Pick<Identity, 'email' | 'emailVerified'> {
  const email = textOf(profile.email);
  if (email !== profile.email || email.length > MAX_EMAIL_LENGTH) return { email: '', emailVerified: false };
  return { email, emailVerified: email !== '' && [true, 'true'].includes(profile.email_verified as boolean) };
}

/** Drops characters that PostgreSQL cannot store. */
const textOf = (claim: unknown) =>
  typeof claim === 'string' ? claim.replaceAll(/\p{Cc}/gu, '').toWellFormed() : '';
