import type { Client } from '@connectrpc/connect';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AccountService } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { unauthenticated } from '../../../services/platform/errors.ts';
import type { Config } from '../../../services/platform/process/config.ts';
import { toConnectError } from '../../../services/platform/rpc/connect-errors.ts';
import { callFor } from '../../clients.ts';
import { reasonOf } from '../shell/failures.ts';
import { formatOf } from '../shell/format.ts';
import { languageOf } from '../shell/language.ts';
import { isStreamRequest } from '../shell/live.ts';
import type { Person, PlainView } from '../shell/view.ts';
import { referrerPathOf } from '../sign-in/return-path.ts';
import { clearSessionCookie, csrfTokenOf, sessionTokenOf, tokenHashOf } from './session-cookie.ts';

/** The sign-in page; its `return` parameter is the path to come back to. */
export const SIGN_IN_PATH = '/sign-in';

const SESSION_ERRORS: readonly unknown[] = ['SESSION_INVALID', 'SESSION_EXPIRED'];

/** Finds the person behind a session cookie, and redirects requests without a session to sign-in. */
export class SessionGuard {
  readonly #accounts: Client<typeof AccountService>;
  readonly #support: string | undefined;

  constructor(accounts: Client<typeof AccountService>, config: Pick<Config, 'SUPPORT_CONTACT'>) {
    this.#accounts = accounts;
    this.#support = config.SUPPORT_CONTACT;
  }

  /**
   * The person who has the request's session. Unattended requests do not extend its idle time.
   * @throws ConnectError UNAUTHENTICATED (SESSION_INVALID, SESSION_EXPIRED) without a valid session.
   */
  async personOf(request: FastifyRequest, { unattended = false } = {}): Promise<Person> {
    const token = sessionTokenOf(request);
    if (token === undefined) throw toConnectError(unauthenticated('SESSION_INVALID', 'there is no session'));
    const { account, session, memberships } = await this.#accounts.authenticateSession(
      { tokenSha256: tokenHashOf(token), unattended },
      callFor(request),
    );
    return {
      accountId: account!.id,
      sessionId: session!.id,
      email: account!.email,
      name: account!.name,
      roles: new Map(memberships.map(({ merchantId, role }) => [merchantId, role])),
      merchantNames: new Map(
        memberships.flatMap(({ merchantId, merchantName }) =>
          merchantName ? [[merchantId, merchantName] as const] : [],
        ),
      ),
      csrfToken: csrfTokenOf(token),
    };
  }

  /** The person who has the request's session; undefined without a valid one. */
  async findPerson(request: FastifyRequest): Promise<Person | undefined> {
    if (sessionTokenOf(request) === undefined) return undefined;
    try {
      return await this.personOf(request);
    } catch (error) {
      if (isSessionError(error)) return undefined;
      throw error;
    }
  }

  /** Sets the request's person, or redirects to sign-in. */
  async requireSession(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const person = await this.findPerson(request);
    if (!person) return this.redirectToSignIn(request, reply);
    request.person = person;
  }

  /**
   * Responds to a request without a session. Sign-in leads back to the page that was requested, or to the one whose form was,
   * and says if a session has ended; a stream gets a 401.
   */
  async redirectToSignIn(request: FastifyRequest, reply: FastifyReply, formPage?: string): Promise<void> {
    const hasEnded = sessionTokenOf(request) !== undefined;
    if (hasEnded) clearSessionCookie(reply);
    if (isStreamRequest(request)) return reply.code(401).send('');
    const isForm = request.method !== 'GET';
    const page = isForm ? (formPage ?? request.view?.url ?? referrerPathOf(request)) : request.url;
    const query = new URLSearchParams({
      ...(page && { return: page }),
      ...(isForm && { unsent: '1' }),
      ...(!isForm && hasEnded && { ended: '1' }),
    });
    return reply.redirect(`${SIGN_IN_PATH}?${query}`, 303);
  }

  /** What pages without a merchant are rendered from. */
  plainViewOf(request: FastifyRequest): PlainView {
    const language = languageOf(request);
    const url = request.method === 'POST' ? (referrerPathOf(request) ?? '/') : request.url;
    const person = request.person ?? undefined;
    return { language, format: formatOf(language), person, url, support: this.#support };
  }
}

/** Whether a call failed because there is no valid session, not because the services refuse the dashboard itself. */
export function isSessionError(error: unknown): boolean {
  return SESSION_ERRORS.includes(reasonOf(error));
}
