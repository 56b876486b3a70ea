import type { FastifyReply, FastifyRequest } from 'fastify';
import { unauthenticated } from '../../../services/platform/errors.ts';
import { toConnectError } from '../../../services/platform/rpc/connect-errors.ts';
import { callFor } from '../../clients.ts';
import type { DashboardClients } from '../dashboard-clients.ts';
import { reasonOf } from '../shell/failures.ts';
import { formatOf } from '../shell/format.ts';
import { languageOf } from '../shell/language.ts';
import { asksForStream } from '../shell/live.ts';
import type { Person, PlainView } from '../shell/view.ts';
import { referrerPathOf } from './referrer.ts';
import { clearSessionCookie, csrfTokenOf, sessionTokenOf, tokenHashOf } from './session-cookie.ts';

/** Where somebody signs in; `return` is the path to come back to. */
export const SIGN_IN_PATH = '/sign-in';

const NO_SESSION: readonly unknown[] = ['SESSION_INVALID', 'SESSION_EXPIRED'];

/** Knows who comes by the session's cookie, and shows the way in to those who have none. */
export class SessionGuard {
  readonly #clients: DashboardClients;

  constructor(clients: DashboardClients) {
    this.#clients = clients;
  }

  /**
   * Who has the request's session. Unattended requests do not keep it from idling out.
   * @throws ConnectError UNAUTHENTICATED (SESSION_INVALID, SESSION_EXPIRED) when there is none.
   */
  async personOf(request: FastifyRequest, { unattended = false } = {}): Promise<Person> {
    const token = sessionTokenOf(request);
    if (token === undefined) throw toConnectError(unauthenticated('SESSION_INVALID', 'there is no session'));
    const { account, session, memberships } = await this.#clients.accounts.authenticateSession(
      { tokenSha256: tokenHashOf(token), unattended },
      callFor(request),
    );
    return {
      accountId: account!.id,
      sessionId: session!.id,
      email: account!.email,
      name: account!.name,
      roles: new Map(memberships.map(({ merchantId, role }) => [merchantId, role])),
      csrfToken: csrfTokenOf(token),
    };
  }

  /** Who has the request's session; undefined when there is none. */
  async visitorOf(request: FastifyRequest): Promise<Person | undefined> {
    if (sessionTokenOf(request) === undefined) return undefined;
    try {
      return await this.personOf(request);
    } catch (error) {
      if (this.isClosedTo(error)) return undefined;
      throw error;
    }
  }

  /** Lets in who is signed in, as the request's person, and shows others the way. */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const person = await this.visitorOf(request);
    if (!person) return this.show(request, reply);
    request.person = person;
  }

  /** Whether a call failed for want of a session, and not because the services do not know the dashboard itself. */
  isClosedTo(error: unknown): boolean {
    return NO_SESSION.includes(reasonOf(error));
  }

  /** Answers a request without a session: readers go to sign in and come back, forms and streams do not. */
  async show(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (sessionTokenOf(request) !== undefined) clearSessionCookie(reply);
    if (asksForStream(request)) return reply.code(401).send('');
    const back = request.method === 'GET' ? `?return=${encodeURIComponent(request.url)}` : '';
    return reply.redirect(`${SIGN_IN_PATH}${back}`, 303);
  }

  /** What pages without a merchant are drawn from. */
  plainViewOf(request: FastifyRequest): PlainView {
    const language = languageOf(request);
    const url = request.method === 'POST' ? (referrerPathOf(request) ?? '/') : request.url;
    return { language, format: formatOf(language), person: request.person ?? undefined, url };
  }
}
