import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, type TObject, Type } from 'typebox';
import { validate as isUuid } from 'uuid';
import type { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import type { DashboardApp } from '../dashboard-app.ts';
import { callAs } from '../dashboard-clients.ts';
import { isCsrfToken, sessionTokenOf } from '../session/session-cookie.ts';
import type { SessionGuard } from '../session/session-guard.ts';
import { Failure, failureOf, noSuchPage, type Refusals } from './failures.ts';
import { type Section, sendPage } from './layout.ts';
import { asksForStream, LiveStreams } from './live.ts';
import { isAtLeast, type Page, pathTo, type Side, type View } from './view.ts';

/** What every page and action of a merchant says of itself. */
interface Place {
  /** Behind /live/<merchant> and /sandbox/<merchant>: `/webhooks/:subscriptionId`. Parameters are UUIDs, but for `name`. */
  readonly path: string;
  /** The least role that may come here. */
  readonly role: Role;
  readonly section: Section;
  /** Where it is; both when absent. */
  readonly side?: Side;
}

interface PageOptions<Query extends TObject> extends Place {
  readonly query?: Query;
}

interface ActionOptions<Form extends TObject> extends Place {
  readonly form?: Form;
  /** What to say when an RPC refuses. */
  readonly refusals?: Refusals;
}

type Params = Readonly<Record<string, string>>;

/** Where an action leads: to another page, with a notice of that page by its name, or to a page that is its answer. */
export type Outcome = { readonly redirect: string; readonly notice?: string } | Page;

/** A page or action that is served. */
export interface Registered extends Place {
  readonly method: 'GET' | 'POST';
}

const NO_FIELDS = Type.Object({});
/** Ids are written in one way only, so that no page has two addresses. */
export const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * The pages of merchants and what can be done on them. Who comes to one has a session, is a member of the merchant and
 * has the role; who does something comes from a form of that session, once per form, and is written down.
 */
export class Pages {
  readonly registered: Registered[] = [];
  readonly #app: DashboardApp;
  readonly #guard: SessionGuard;
  readonly #streams = new LiveStreams();

  constructor(app: DashboardApp, guard: SessionGuard) {
    this.#app = app;
    this.#guard = guard;
    app.addHook('preClose', async () => this.#streams.close());
  }

  /** Serves a page, and the stream of its live regions to who asks its address for one. */
  page<Query extends TObject = typeof NO_FIELDS>(
    options: PageOptions<Query>,
    draw: (view: View, input: { params: Params; query: Static<Query> }) => Promise<Page>,
  ): void {
    const { section } = options;
    this.registered.push({ ...options, method: 'GET' });
    this.#app.get(routeOf(options), {
      schema: { querystring: options.query ?? NO_FIELDS },
      onRequest: async (request, reply) => this.#enter(options, request, reply),
      handler: async (request, reply) => {
        const input = { params: request.params as Params, query: request.query as Static<Query> };
        const view = request.view!;
        const page = await draw(view, input);
        if (!asksForStream(request)) return sendPage(reply, view, page, section);
        if (!page.live) throw noSuchPage();
        const look = async () => (await draw(await this.#viewOf(options, request), input)).live ?? {};
        if (!(await this.#streams.send(view.person.accountId, reply, page.live, look))) {
          throw Failure.of(429, 'unavailable');
        }
      },
    });
  }

  /** Serves what a form does. `key` is the form's own, for the idempotency of what it asks for. */
  action<Form extends TObject = typeof NO_FIELDS>(
    options: ActionOptions<Form>,
    act: (view: View, input: { params: Params; form: Static<Form>; key: string }) => Promise<Outcome>,
  ): void {
    const { section, refusals } = options;
    this.registered.push({ ...options, method: 'POST' });
    this.#app.post(routeOf(options), {
      schema: { body: options.form ?? NO_FIELDS },
      onRequest: async (request, reply) => this.#enter(options, request, reply),
      preValidation: async (request) => requireOwnForm(request),
      // A form may come in slowly: who is removed or signed out meanwhile does nothing any more.
      preHandler: async (request, reply) => this.#enter(options, request, reply),
      handler: async (request, reply) => {
        const { _key: key } = request.body as { _key?: unknown };
        if (typeof key !== 'string' || !isUuid(key)) throw Failure.of(400, 'staleForm');
        const view = request.view!;
        const input = { params: request.params as Params, form: request.body as Static<Form>, key };
        const outcome = await act(view, input).catch((error) => {
          throw failureOf(error, refusals);
        });
        // What answers a form has no stream: its address is no page.
        if (!('redirect' in outcome)) return sendPage(reply, view, { ...outcome, live: undefined }, section);
        const notice = outcome.notice === undefined ? '' : `?notice=${encodeURIComponent(outcome.notice)}`;
        return reply.redirect(`${pathTo(view, outcome.redirect)}${notice}`, 303);
      },
    });
  }

  /** Where the form of an action stood: the address of the action is no page to come back to. */
  #pageAbove({ path }: Place, { url }: FastifyRequest): string {
    const pages = new Set(this.registered.filter(({ method }) => method === 'GET').map((page) => page.path));
    const own = path.split('/');
    const asked = (url.split('?')[0] ?? '').split('/');
    while (own.length > 1 && !pages.has(own.join('/'))) {
      own.pop();
      asked.pop();
    }
    return asked.join('/');
  }

  async #enter(place: Place, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (sessionTokenOf(request) === undefined) return this.#guard.show(request, reply);
    try {
      request.view = await this.#viewOf(place, request);
    } catch (error) {
      if (!this.#guard.isClosedTo(error)) throw error;
      await this.#guard.show(request, reply);
    }
  }

  /** Throws what AuthenticateSession throws, and a Failure where the person may not be. */
  async #viewOf(place: Place, request: FastifyRequest): Promise<View> {
    const { role, side: only } = place;
    const person = await this.#guard.personOf(request, { unattended: asksForStream(request) });
    request.person = person;
    const { side, merchantId, ...others } = request.params as { side: Side; merchantId: string };
    const has = person.roles.get(merchantId);
    if (has === undefined || (only !== undefined && side !== only)) throw noSuchPage();
    if (Object.entries(others).some(([name, value]) => name !== 'name' && !isId(value))) throw noSuchPage();
    const environment = side === 'live' ? Environment.LIVE : Environment.TEST;
    const view: View = {
      ...{ ...this.#guard.plainViewOf(request), person, side, role: has },
      ...(request.method === 'POST' && { url: this.#pageAbove(place, request) }),
      tenant: { merchantId, environment },
      call: callAs(person, request),
    };
    request.view = view;
    if (!isAtLeast(has, role)) throw Failure.of(403, 'forbidden');
    return view;
  }
}

const routeOf = ({ path }: Place) => `/:side(^live|sandbox$)/:merchantId${path}`;

const isId = (value: unknown) => typeof value === 'string' && ID.test(value);

/** Refuses what another site, or another session's form, has the browser send. */
export function requireOwnForm(request: FastifyRequest): void {
  const token = sessionTokenOf(request);
  const { _csrf: given } = (request.body ?? {}) as { _csrf?: unknown };
  const site = request.headers['sec-fetch-site'];
  const foreign = site !== undefined && site !== 'same-origin';
  if (token === undefined || foreign || !isCsrfToken(token, given)) throw Failure.of(403, 'staleForm');
}
