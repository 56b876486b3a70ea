import type { DescMethod } from '@bufbuild/protobuf';
import type { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { mayCall } from '../../../services/platform/rpc/person-rules.ts';
import type { EnvironmentName } from '../../../services/platform/tenant.ts';
import type { MerchantClients } from '../merchant-clients.ts';
import type { Format } from './format.ts';
import { type Html, html } from './html.ts';
import type { Language, Texts } from './language.ts';

/** The first segment of an environment's paths. */
export const ENVIRONMENT_PATHS = {
  live: 'live',
  test: 'sandbox',
} as const satisfies Record<EnvironmentName, string>;

export interface Person {
  readonly accountId: string;
  readonly sessionId: string;
  readonly email: string;
  /** May be empty. */
  readonly name: string;
  /** Their role at each merchant, by merchant id. */
  readonly roles: ReadonlyMap<string, Role>;
  /** The names of those merchants that have one, by merchant id. */
  readonly merchantNames: ReadonlyMap<string, string>;
  /** Sent with every form they submit. */
  readonly csrfToken: string;
}

/** What every page is rendered from, signed in or not. */
export interface PlainView {
  readonly language: Language;
  readonly format: Format;
  /** Undefined before sign-in. */
  readonly person: Person | undefined;
  /** Path and query of the requested page; for a form, of the page that it is on. */
  readonly url: string;
  /** The email address or https URL of the support; undefined if it is not configured. */
  readonly support: string | undefined;
}

/** What a merchant's page is rendered from. */
export interface View extends PlainView {
  readonly person: Person;
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly role: Role;
  /** The URL of the environment's API; undefined if it is not configured. */
  readonly apiUrl: string | undefined;
  /** The guides of the environment's API in the viewer's language; undefined if its public URL is not configured. */
  readonly docsUrl: string | undefined;
  readonly requestId: string;
  /** Call the services for the person, at this merchant and environment only. */
  readonly clients: MerchantClients;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The signed-in person, once the session has been checked. */
    person: Person | null;
    /** What a merchant's page is rendered from. Set before the handler of such a page runs. */
    view: View | null;
  }
}

/** A page as a feature renders it. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  /** 200 when absent. */
  readonly status?: number;
  /** Parts of the body that update live, by the names given to `liveRegion`. */
  readonly live?: Readonly<Record<string, Html>>;
  /** Notices to show above the page after an action, by the name in the action's redirect. */
  readonly notices?: Readonly<Record<string, string>>;
  /** The same after an action that had no effect. */
  readonly warnings?: Readonly<Record<string, string>>;
}

/** The URL path of a merchant's page: `path` begins with a slash, or is empty for the overview. */
export function pathTo({ environment, merchantId }: View, path: string): string {
  return `/${ENVIRONMENT_PATHS[environment]}/${merchantId}${path}`;
}

/** Whether the viewer may call an RPC here: whether to show its form. */
export function canCall({ role, environment }: Pick<View, 'role' | 'environment'>, rpc: DescMethod): boolean {
  return mayCall(role, environment, rpc);
}

/** The name of a merchant; without one, the start of its id. */
export function merchantText({ merchantNames }: Person, merchantId: string): Html {
  const name = merchantNames.get(merchantId);
  return name ? html`${name}` : html`<code>${merchantId.slice(0, 8)}</code>`;
}

/** A feature's texts in the viewer's language. */
export function textsFor<T>({ language }: Pick<PlainView, 'language'>, texts: Texts<T>): T {
  return texts[language];
}
