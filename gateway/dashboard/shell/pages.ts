import type { Transport } from '@connectrpc/connect';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, type TObject, Type } from 'typebox';
import { validate as isUuid } from 'uuid';
import type { Config } from '../../../services/platform/process/config.ts';
import { type EnvironmentName, environmentEnum } from '../../../services/platform/tenant.ts';
import { REFERENCE_PATHS } from '../../docs/languages.ts';
import type { GatewayApp } from '../../gateway-app.ts';
import { callAsPerson } from '../dashboard-caller.ts';
import { createMerchantClients } from '../merchant-clients.ts';
import { requireOwnForm } from '../session/own-form.ts';
import { sessionTokenOf } from '../session/session-cookie.ts';
import { isSessionError, type SessionGuard } from '../session/session-guard.ts';
import { type Access, accessOf, mayOpen, type RpcAccess, type Section } from './access.ts';
import { type Download, sendDownload } from './downloads.ts';
import { Failure, failureOf, noSuchPage, type Refusals } from './failures.ts';
import { sendPage } from './layout.ts';
import { isStreamRequest, LiveStreams } from './live.ts';
import { type UploadedFile, Uploads } from './uploads.ts';
import { ENVIRONMENT_PATHS, type Page, pathTo, type View } from './view.ts';

/** Where a merchant's page or action is. */
interface PageLocation {
  /** Below /live/<merchant> and /sandbox/<merchant>: `/webhooks/:subscriptionId`. Parameters are UUIDs, except `name`. */
  readonly path: string;
  readonly section: Section;
  /** The deadline of each of its calls; the usual one when absent. */
  readonly timeoutMs?: number;
  /** Whether its stream looks for changes less often, because it reads sums over many records. */
  readonly isCostly?: boolean;
}

type PageSpec = PageLocation & Access;

type PageOptions<Query extends TObject> = PageLocation & (Access | RpcAccess) & { readonly query?: Query };

type ActionOptions<Form extends TObject> = PageLocation &
  (Access | RpcAccess) & {
    readonly form?: Form;
    /** Whether the form is multipart, with a file. */
    readonly hasFile?: boolean;
    /** Error messages by the reason of a refused RPC. */
    readonly refusals?: Refusals;
  };

type Params = Readonly<Record<string, string>>;

interface ActionInput<Form extends TObject> {
  readonly params: Params;
  readonly form: Static<Form>;
  readonly key: string;
  /** Null without a file. */
  readonly file: UploadedFile | null;
}

/** A path below the merchant's, with the name of a notice to show there. */
interface Redirect {
  readonly redirect: string;
  readonly notice?: string;
}

/** The addresses of the APIs, whose guides pages link to. */
type PublicUrls = Pick<Config, 'PUBLIC_URL_LIVE' | 'PUBLIC_URL_SANDBOX'>;

export type Outcome = Redirect | Page;

export interface Registered extends PageSpec {
  readonly method: 'GET' | 'POST';
  readonly isDownload?: boolean;
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
  readonly #app: GatewayApp;
  readonly #guard: SessionGuard;
  readonly #transport: Transport;
  readonly #config: PublicUrls;
  readonly #streams = new LiveStreams();
  readonly #uploads: Uploads;

  constructor(app: GatewayApp, guard: SessionGuard, transport: Transport, config: PublicUrls) {
    this.#app = app;
    this.#config = config;
    this.#guard = guard;
    this.#transport = transport;
    this.#uploads = new Uploads(app);
    app.addHook('preClose', async () => this.#streams.close());
  }

  /** Serves a page, or redirects to another, and at the same URL the event stream of its live regions. */
  page<Query extends TObject = typeof NO_FIELDS>(
    options: PageOptions<Query>,
    render: (view: View, input: { params: Params; query: Static<Query> }) => Promise<Outcome>,
  ): void {
    const { section } = options;
    const spec = { ...options, ...accessOf(options) };
    this.registered.push({ ...spec, method: 'GET' });
    this.#app.get(routeOf(options), {
      schema: { querystring: options.query ?? NO_FIELDS },
      onRequest: async (request, reply) => this.#authorize(spec, request, reply),
      handler: async (request, reply) => {
        const input = { params: request.params as Params, query: request.query as Static<Query> };
        const view = request.view!;
        const page = await render(view, input);
        if ('redirect' in page) return redirectTo(reply, view, page);
        if (!isStreamRequest(request)) return sendPage(reply, view, page, section);
        if (!page.live) throw noSuchPage();
        const poll = async () => {
          const current = await render(await this.#viewOf(spec, request), input);
          return ('redirect' in current ? undefined : current.live) ?? {};
        };
        const { accountId } = view.person;
        if (!(await this.#streams.send(accountId, reply, page.live, poll, options.isCostly))) {
          throw Failure.of(429, 'unavailable');
        }
      },
    });
  }

  /** Serves a file to download. */
  download<Query extends TObject = typeof NO_FIELDS>(
    options: PageOptions<Query>,
    open: (view: View, input: { params: Params; query: Static<Query> }) => Promise<Download>,
  ): void {
    const spec = { ...options, ...accessOf(options) };
    this.registered.push({ ...spec, method: 'GET', isDownload: true });
    this.#app.get(routeOf(options), {
      schema: { querystring: options.query ?? NO_FIELDS },
      onRequest: async (request, reply) => this.#authorize(spec, request, reply),
      handler: async (request, reply) => {
        const input = { params: request.params as Params, query: request.query as Static<Query> };
        return sendDownload(reply, await open(request.view!, input));
      },
    });
  }

  /** Serves the POST of a form. `key` is unique to the form, for use as idempotency key. */
  action<Form extends TObject = typeof NO_FIELDS>(
    options: ActionOptions<Form>,
    act: (view: View, input: ActionInput<Form>) => Promise<Outcome>,
  ): void {
    const spec = { ...options, ...accessOf(options) };
    this.registered.push({ ...spec, method: 'POST' });
    if (options.hasFile) this.#uploads.register((app) => this.#postRoute(app, spec, act));
    else this.#postRoute(this.#app, spec, act);
  }

  #postRoute<Form extends TObject>(
    app: GatewayApp,
    spec: PageSpec & ActionOptions<Form>,
    act: (view: View, input: ActionInput<Form>) => Promise<Outcome>,
  ): void {
    const { section, refusals, hasFile } = spec;
    app.post(routeOf(spec), {
      schema: { body: spec.form ?? NO_FIELDS },
      onRequest: async (request, reply) => this.#authorize(spec, request, reply),
      preValidation: async (request, reply) =>
        hasFile ? this.#uploads.read(request, reply) : requireOwnForm(request),
      // The body may arrive slowly: check again that the person has not been removed or signed out meanwhile.
      preHandler: async (request, reply) => this.#authorize(spec, request, reply),
      handler: async (request, reply) => {
        const { _key: key } = request.body as { _key?: unknown };
        if (typeof key !== 'string' || !isUuid(key)) throw Failure.of(400, 'staleForm');
        const view = request.view!;
        const [params, form] = [request.params as Params, request.body as Static<Form>];
        const outcome = await act(view, { params, form, key, file: request.upload }).catch((error) => {
          throw failureOf(error, refusals);
        });
        // The browser is at the URL of the action, which has no stream.
        if (!('redirect' in outcome)) return sendPage(reply, view, { ...outcome, live: undefined }, section);
        return redirectTo(reply, view, outcome);
      },
    });
  }

  /**
   * Leads from the URL of an action, where a refused form leaves the browser, to the closest parent page. Call this after
   * all pages have been registered.
   */
  redirectActionUrls(): void {
    const pages = this.#pagePaths;
    for (const spec of this.registered) {
      if (pages.has(spec.path)) continue;
      this.#app.get(routeOf(spec), async (request, reply) =>
        reply.redirect(this.#parentPage(spec, request), 303),
      );
    }
  }

  get #pagePaths(): ReadonlySet<string> {
    return new Set(this.registered.filter(({ method }) => method === 'GET').map(({ path }) => path));
  }

  /** The URL path of the closest parent page of an action, since an action's URL cannot be opened. */
  #parentPage({ path }: PageSpec, { url }: FastifyRequest): string {
    const pages = this.#pagePaths;
    const route = path.split('/');
    const requested = (url.split('?')[0] ?? '').split('/');
    while (route.length > 1 && !pages.has(route.join('/'))) {
      route.pop();
      requested.pop();
    }
    return requested.join('/');
  }

  async #authorize(spec: PageSpec, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const signIn = () => this.#guard.redirectToSignIn(request, reply, this.#parentPage(spec, request));
    if (sessionTokenOf(request) === undefined) return signIn();
    try {
      request.view = await this.#viewOf(spec, request);
    } catch (error) {
      if (!isSessionError(error)) throw error;
      await signIn();
    }
  }

  /**
   * @throws Failure 404 without membership, 403 without the role
   * @throws ConnectError from AuthenticateSession
   */
  async #viewOf(spec: PageSpec, request: FastifyRequest): Promise<View> {
    const person = await this.#guard.personOf(request, { unattended: isStreamRequest(request) });
    request.person = person;
    const { environment: segment, merchantId, ...others } = request.params as RouteParams;
    const environment = segment === ENVIRONMENT_PATHS.live ? 'live' : 'test';
    const role = person.roles.get(merchantId);
    if (role === undefined || environment !== (spec.environment ?? environment)) throw noSuchPage();
    if (Object.entries(others).some(([name, value]) => name !== 'name' && !isId(value))) throw noSuchPage();
    const apiUrl = this.#config[environment === 'live' ? 'PUBLIC_URL_LIVE' : 'PUBLIC_URL_SANDBOX'];
    const plainView = this.#guard.plainViewOf(request);
    const tenant = { merchantId, environment: environmentEnum(environment) };
    const call = { ...callAsPerson(request), ...(spec.timeoutMs && { timeoutMs: spec.timeoutMs }) };
    const view: View = {
      ...plainView,
      ...(request.method === 'POST' && { url: this.#parentPage(spec, request) }),
      person,
      merchantId,
      environment,
      role,
      apiUrl,
      docsUrl: apiUrl && `${apiUrl}${REFERENCE_PATHS[plainView.language]}/`,
      requestId: request.id,
      clients: createMerchantClients(this.#transport, tenant, call),
    };
    // Set before the role is checked: the failure page shows the merchant's navigation.
    request.view = view;
    if (!mayOpen(role, spec)) throw Failure.of(403, 'forbidden');
    return view;
  }
}

interface RouteParams extends Params {
  readonly environment: (typeof ENVIRONMENT_PATHS)[EnvironmentName];
  readonly merchantId: string;
}

function redirectTo(reply: FastifyReply, view: View, { redirect, notice }: Redirect): FastifyReply {
  const query = notice === undefined ? '' : `?notice=${encodeURIComponent(notice)}`;
  return reply.redirect(`${pathTo(view, redirect)}${query}`, 303);
}

const routeOf = ({ path }: PageLocation) => `/:environment(^live|sandbox$)/:merchantId${path}`;

const isId = (value: unknown) => typeof value === 'string' && ID.test(value);
