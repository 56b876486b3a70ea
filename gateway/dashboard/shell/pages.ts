import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, type TObject, Type } from 'typebox';
import { validate as isUuid } from 'uuid';
import type { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { type EnvironmentName, environmentEnum } from '../../../services/platform/tenant.ts';
import type { DashboardApp } from '../dashboard-app.ts';
import { callAs } from '../dashboard-clients.ts';
import { isCsrfToken, sessionTokenOf } from '../session/session-cookie.ts';
import { isSessionError, type SessionGuard } from '../session/session-guard.ts';
import { Failure, failureOf, noSuchPage, type Refusals } from './failures.ts';
import { type Section, sendPage } from './layout.ts';
import { asksForStream, LiveStreams } from './live.ts';
import { ENVIRONMENT_PATHS, isAtLeast, type Page, pathTo, type View } from './view.ts';

/** Where a merchant's page or action is, and who may use it. */
interface PageSpec {
  /** Below /live/<merchant> and /sandbox/<merchant>: `/webhooks/:subscriptionId`. Parameters are UUIDs, except `name`. */
  readonly path: string;
  /** The least powerful role with access. */
  readonly role: Role;
  readonly section: Section;
  /** The only environment that has it; both when absent. */
  readonly environment?: EnvironmentName;
}

interface PageOptions<Query extends TObject> extends PageSpec {
  readonly query?: Query;
}

interface ActionOptions<Form extends TObject> extends PageSpec {
  readonly form?: Form;
  /** Error messages by the reason of a refused RPC. */
  readonly refusals?: Refusals;
}

type Params = Readonly<Record<string, string>>;

/** What an action responds with: a redirect, with the name of a notice on the target page, or a page. */
export type Outcome = { readonly redirect: string; readonly notice?: string } | Page;

/** A registered page or action. */
export interface Registered extends PageSpec {
  readonly method: 'GET' | 'POST';
}

const NO_FIELDS = Type.Object({});
/** Lowercase only, so that every page has a single URL. */
export const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Registers the pages and actions of merchants. Every request needs a session, membership of the merchant and the role;
 * an action also needs the CSRF token and the idempotency key of one of the session's forms.
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

  /** Serves a page, and at the same URL the event stream of its live regions. */
  page<Query extends TObject = typeof NO_FIELDS>(
    options: PageOptions<Query>,
    render: (view: View, input: { params: Params; query: Static<Query> }) => Promise<Page>,
  ): void {
    const { section } = options;
    this.registered.push({ ...options, method: 'GET' });
    this.#app.get(routeOf(options), {
      schema: { querystring: options.query ?? NO_FIELDS },
      onRequest: async (request, reply) => this.#authorize(options, request, reply),
      handler: async (request, reply) => {
        const input = { params: request.params as Params, query: request.query as Static<Query> };
        const view = request.view!;
        const page = await render(view, input);
        if (!asksForStream(request)) return sendPage(reply, view, page, section);
        if (!page.live) throw noSuchPage();
        const poll = async () => (await render(await this.#viewOf(options, request), input)).live ?? {};
        if (!(await this.#streams.send(view.person.accountId, reply, page.live, poll))) {
          throw Failure.of(429, 'unavailable');
        }
      },
    });
  }

  /** Serves the POST of a form. `key` is unique to the form, for use as idempotency key. */
  action<Form extends TObject = typeof NO_FIELDS>(
    options: ActionOptions<Form>,
    act: (view: View, input: { params: Params; form: Static<Form>; key: string }) => Promise<Outcome>,
  ): void {
    const { section, refusals } = options;
    this.registered.push({ ...options, method: 'POST' });
    this.#app.post(routeOf(options), {
      schema: { body: options.form ?? NO_FIELDS },
      onRequest: async (request, reply) => this.#authorize(options, request, reply),
      preValidation: async (request) => requireOwnForm(request),
      // The body may arrive slowly: check again that the person has not been removed or signed out meanwhile.
      preHandler: async (request, reply) => this.#authorize(options, request, reply),
      handler: async (request, reply) => {
        const { _key: key } = request.body as { _key?: unknown };
        if (typeof key !== 'string' || !isUuid(key)) throw Failure.of(400, 'staleForm');
        const view = request.view!;
        const input = { params: request.params as Params, form: request.body as Static<Form>, key };
        const outcome = await act(view, input).catch((error) => {
          throw failureOf(error, refusals);
        });
        // The URL of an action is not a page, so there is no stream to connect to.
        if (!('redirect' in outcome)) return sendPage(reply, view, { ...outcome, live: undefined }, section);
        const notice = outcome.notice === undefined ? '' : `?notice=${encodeURIComponent(outcome.notice)}`;
        return reply.redirect(`${pathTo(view, outcome.redirect)}${notice}`, 303);
      },
    });
  }

  /** The URL path of the closest parent page of an action, since an action's URL cannot be opened. */
  #parentPage({ path }: PageSpec, { url }: FastifyRequest): string {
    const pages = new Set(this.registered.filter(({ method }) => method === 'GET').map((page) => page.path));
    const route = path.split('/');
    const requested = (url.split('?')[0] ?? '').split('/');
    while (route.length > 1 && !pages.has(route.join('/'))) {
      route.pop();
      requested.pop();
    }
    return requested.join('/');
  }

  async #authorize(spec: PageSpec, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (sessionTokenOf(request) === undefined) return this.#guard.redirectToSignIn(request, reply);
    try {
      request.view = await this.#viewOf(spec, request);
    } catch (error) {
      if (!isSessionError(error)) throw error;
      await this.#guard.redirectToSignIn(request, reply);
    }
  }

  /**
   * @throws Failure 404 without membership, 403 without the role
   * @throws ConnectError from AuthenticateSession
   */
  async #viewOf(spec: PageSpec, request: FastifyRequest): Promise<View> {
    const person = await this.#guard.personOf(request, { unattended: asksForStream(request) });
    request.person = person;
    const { environment: segment, merchantId, ...others } = request.params as RouteParams;
    const environment = segment === ENVIRONMENT_PATHS.live ? 'live' : 'test';
    const role = person.roles.get(merchantId);
    if (role === undefined || environment !== (spec.environment ?? environment)) throw noSuchPage();
    if (Object.entries(others).some(([name, value]) => name !== 'name' && !isId(value))) throw noSuchPage();
    const view: View = {
      ...this.#guard.plainViewOf(request),
      ...(request.method === 'POST' && { url: this.#parentPage(spec, request) }),
      person,
      environment,
      role,
      tenant: { merchantId, environment: environmentEnum(environment) },
      call: callAs(person, request),
    };
    // Set before the role is checked: the failure page shows the merchant's navigation.
    request.view = view;
    if (!isAtLeast(role, spec.role)) throw Failure.of(403, 'forbidden');
    return view;
  }
}

interface RouteParams extends Params {
  readonly environment: (typeof ENVIRONMENT_PATHS)[EnvironmentName];
  readonly merchantId: string;
}

const routeOf = ({ path }: PageSpec) => `/:environment(^live|sandbox$)/:merchantId${path}`;

const isId = (value: unknown) => typeof value === 'string' && ID.test(value);

/**
 * Rejects a form that another site or another session sent.
 * @throws Failure 403
 */
export function requireOwnForm(request: FastifyRequest): void {
  const token = sessionTokenOf(request);
  const { _csrf: given } = (request.body ?? {}) as { _csrf?: unknown };
  const site = request.headers['sec-fetch-site'];
  const isCrossSite = site !== undefined && site !== 'same-origin';
  if (token === undefined || isCrossSite || !isCsrfToken(token, given)) throw Failure.of(403, 'staleForm');
}
