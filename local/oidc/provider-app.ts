import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { type Configuration, type KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { DataFolder } from '../data-folder.ts';
import type { DemoPerson } from './demo-people.ts';
import { ProviderPages } from './provider-pages.ts';
import type { ProviderSecrets } from './provider-secrets.ts';
import type { ProviderStore } from './provider-store.ts';
import { signInPages } from './sign-in-pages.ts';

const DAY_S = 24 * 60 * 60;
const HOUR_S = 60 * 60;
const STYLE = readFileSync(new URL('provider.css', import.meta.url));

export interface OidcProviderOptions {
  /** Stores the provider's sessions. */
  readonly folder: DataFolder;
  readonly secrets: ProviderSecrets;
  readonly people: readonly DemoPerson[];
  /** 0: any free port. */
  readonly port: number;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The dashboard's address, without a trailing slash. */
  readonly dashboardUrl: string;
  /** The dashboard's callback. */
  readonly redirectUri: string;
}

/** Answers the requests of the provider at this address. */
export function providerApp(
  issuer: string,
  options: OidcProviderOptions,
  store: ProviderStore,
): RequestListener {
  const provider = new Provider(issuer, configurationOf(options, store));
  const policy = contentPolicy(new URL(options.dashboardUrl).origin);
  provider.use(async (ctx, next) => {
    ctx.set({
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
    if (ctx.path !== '/provider.css') return next();
    ctx.type = 'css';
    ctx.body = STYLE;
  });
  provider.use(signInPages(provider, options));
  return provider.callback();
}

/** Submitting the sign-in form ends in a redirect to the dashboard, and browsers apply form-action to redirects too. */
const contentPolicy = (dashboard: string) =>
  `default-src 'none'; script-src 'none'; style-src 'self'; form-action 'self' ${dashboard}; base-uri 'none'; frame-ancestors 'none'`;

function configurationOf(options: OidcProviderOptions, store: ProviderStore): Configuration {
  const { secrets, people, clientId, clientSecret, dashboardUrl, redirectUri } = options;
  const pagesFor = (ctx: KoaContextWithOIDC) => new ProviderPages(ctx.get('accept-language'), dashboardUrl);
  return {
    adapter: (model) => store.adapterOf(model),
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    jwks: { keys: [secrets.signingKey] },
    cookies: { keys: [secrets.cookieKey] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    pkce: { required: () => true },
    responseTypes: ['code'],
    clientBasedCORS: () => false,
    ttl: {
      AccessToken: HOUR_S,
      AuthorizationCode: 60,
      IdToken: HOUR_S,
      Interaction: HOUR_S,
      Session: 14 * DAY_S,
      Grant: 14 * DAY_S,
    },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    loadExistingGrant: grantAll,
    findAccount: (_ctx, subject) => {
      const person = people.find((other) => other.subject === subject);
      if (!person) return undefined;
      const { email, name } = person;
      return { accountId: subject, claims: () => ({ sub: subject, email, email_verified: true, name }) };
    },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) => show(ctx, pagesFor(ctx).signOut(form)),
        postLogoutSuccessSource: (ctx) => show(ctx, pagesFor(ctx).signedOut()),
      },
    },
    renderError: (ctx, { error, error_description }) =>
      show(ctx, pagesFor(ctx).failed([error, error_description].filter(Boolean).join(': '))),
  };
}

async function show(ctx: KoaContextWithOIDC, page: Promise<string>): Promise<void> {
  ctx.type = 'html';
  ctx.body = await page;
}

/** Grants every scope without asking for consent: the provider belongs to the dashboard. */
async function grantAll({ oidc }: KoaContextWithOIDC) {
  const clientId = oidc.client!.clientId;
  const grantId = oidc.session!.grantIdFor(clientId);
  const existing = grantId === undefined ? undefined : await oidc.provider.Grant.find(grantId);
  if (existing) return existing;
  const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session!.accountId! });
  grant.addOIDCScope('openid email profile');
  await grant.save();
  return grant;
}
