import type { CallOptions } from '@connectrpc/connect';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import type { Format } from './format.ts';
import type { Html } from './html.ts';
import type { Language, Texts } from './language.ts';

/** The environments as addresses and people name them. */
export type Side = 'live' | 'sandbox';

/** Who is signed in. */
export interface Person {
  readonly accountId: string;
  readonly sessionId: string;
  readonly email: string;
  /** May be empty. */
  readonly name: string;
  /** Her role at each merchant, by the merchant's id. */
  readonly roles: ReadonlyMap<string, Role>;
  /** What her forms carry. */
  readonly csrfToken: string;
}

/** What a page is drawn from, whoever looks at it. */
export interface PlainView {
  readonly language: Language;
  readonly format: Format;
  /** Undefined before sign-in. */
  readonly person: Person | undefined;
  /** Path and query of the page that was asked for; where a form was sent, of the page that it was on. */
  readonly url: string;
}

/** What a page of a merchant is drawn from. */
export interface View extends PlainView {
  readonly person: Person;
  readonly side: Side;
  /** Goes into every request to a service. */
  readonly tenant: { readonly merchantId: string; readonly environment: Environment };
  readonly role: Role;
  /** Goes with every call: the request's id, a deadline, and who acts from where. */
  readonly call: CallOptions;
}

/** A page as its room draws it. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  /** 200 when absent. */
  readonly status?: number;
  /** Parts of the body, by the names under which `liveRegion` put them there, that change as one looks at them. */
  readonly live?: Readonly<Record<string, Html>>;
  /** What may be said above the page after an action that led here, by the name that the action gave. */
  readonly notices?: Readonly<Record<string, string>>;
}

/** Where a merchant's page is: `path` begins with a slash, or is empty for the overview. */
export function pathTo({ side, tenant }: Pick<View, 'side' | 'tenant'>, path: string): string {
  return `/${side}/${tenant.merchantId}${path}`;
}

/** Whether a role may do what takes another. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return role >= needed;
}

/** Whether who looks may change things here. */
export function mayDevelop({ role }: Pick<View, 'role'>): boolean {
  return isAtLeast(role, Role.DEVELOPER);
}

/** A room's texts in the language of who looks. */
export function textsFor<T>({ language }: Pick<PlainView, 'language'>, texts: Texts<T>): T {
  return texts[language];
}
