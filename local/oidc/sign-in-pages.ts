import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { errors, type KoaContextWithOIDC, type Provider } from 'oidc-provider';
import type { DemoPerson } from './demo-people.ts';
import { ProviderPages } from './provider-pages.ts';
import type { ProviderSecrets } from './provider-secrets.ts';

const BODY_LIMIT_BYTES = 10_000;

interface SignInPagesOptions {
  readonly secrets: ProviderSecrets;
  readonly people: readonly DemoPerson[];
  readonly dashboardUrl: string;
}

/** Middleware that serves the sign-in form at `/interaction/<uid>` and passes its result to the provider. */
export function signInPages(provider: Provider, { secrets, people, dashboardUrl }: SignInPagesOptions) {
  return async (ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> => {
    if (!ctx.path.startsWith('/interaction/')) return next();
    const pages = new ProviderPages(ctx.get('accept-language'), dashboardUrl);
    const show = async (status: number, page: Promise<string>) => {
      ctx.status = status;
      ctx.type = 'html';
      ctx.body = await page;
    };
    const interaction = await provider.interactionDetails(ctx.req, ctx.res).catch(ignoreMissing);
    if (ctx.path !== `/interaction/${interaction?.uid}`) return show(400, pages.expired());
    if (ctx.method !== 'POST') return show(200, pages.signIn());
    const form = await readForm(ctx.req);
    if (form === undefined) return show(413, pages.failed('request_too_large'));
    const finish = async (result: Parameters<Provider['interactionFinished']>[2]) => {
      ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, result));
      ctx.status = 303;
    };
    if (form.has('cancel')) {
      return finish({ error: 'access_denied', error_description: 'the sign-in was canceled' });
    }
    const email = form.get('email') ?? '';
    const person = people.find((other) => other.email === email.trim().toLowerCase());
    const password = person && secrets.passwords[person.subject];
    if (person && password && isEqual(password, form.get('password') ?? '')) {
      return finish({ login: { accountId: person.subject } });
    }
    return show(400, pages.signIn(email));
  };
}

/** An interaction is missing when it has ended or belongs to another browser. */
function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof errors.SessionNotFound)) throw error;
}

/** Undefined when the form is too large. */
async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  if (!(Number(request.headers['content-length']) <= BODY_LIMIT_BYTES)) return undefined;
  return new URLSearchParams(await text(request));
}

/** Compares in constant time. */
function isEqual(expected: string, given: string): boolean {
  const hash = (value: string) => createHash('sha256').update(value).digest();
  return timingSafeEqual(hash(expected), hash(given));
}
