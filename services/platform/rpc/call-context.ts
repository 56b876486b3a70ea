import { type ContextValues, createContextKey, type HandlerContext } from '@connectrpc/connect';
import { permissionDenied } from '../errors.ts';

/** The caller of an RPC and its grants: `<area>:read`, `<area>:write` and standalone grants. */
export interface Caller {
  readonly name: string;
  readonly grants: ReadonlySet<string>;
}

/** The person on whose behalf a caller acts, as asserted by the caller. */
export interface Actor {
  readonly accountId: string;
  /** The IP address of the person, as seen by the caller. */
  readonly ipAddress: string;
}

/** Request header with which internal callers propagate the id of the causing request. */
export const REQUEST_ID_HEADER = 'request-id';

/** Request headers with which a caller that holds the grant on-behalf-of names the person it acts for. */
export const ACTOR_HEADERS = { accountId: 'acting-account', ipAddress: 'acting-address' } as const;

/** Response header of a replayed response. */
export const REPLAYED_HEADER = 'idempotency-replayed';

const callerKey = createContextKey<Caller | undefined>(undefined, { description: 'caller' });
const requestIdKey = createContextKey('', { description: 'request id' });
const actorKey = createContextKey<Actor | undefined>(undefined, { description: 'actor' });

/** Stores the caller and the id of the causing request in the values of an incoming call. */
export function identifyCall(values: ContextValues, caller: Caller, requestId: string): void {
  values.set(callerKey, caller).set(requestIdKey, requestId);
}

/** The caller; undefined before it has been identified. */
export function callerOf(values: ContextValues): Caller | undefined {
  return values.get(callerKey);
}

/** The id of the request that caused this call; events and logs carry it. */
export function requestIdOf(context: Pick<HandlerContext, 'values'>): string {
  return context.values.get(requestIdKey);
}

/** The options of a call to another area: it belongs to the request that caused this call. */
export function callFor(context: Pick<HandlerContext, 'values'>) {
  return { headers: { [REQUEST_ID_HEADER]: requestIdOf(context) } };
}

/** Stores the person named in the headers, if any; the interceptors check the grant. */
export function identifyActor(
  values: ContextValues,
  headerOf: (name: string) => string | null | undefined,
): void {
  const accountId = headerOf(ACTOR_HEADERS.accountId) ?? undefined;
  if (accountId === undefined) return;
  values.set(actorKey, { accountId, ipAddress: headerOf(ACTOR_HEADERS.ipAddress) ?? '' });
}

/** The person on whose behalf a call is made; undefined when a system acts for itself. */
export function actorOf(context: Pick<HandlerContext, 'values'>): Actor | undefined {
  return context.values.get(actorKey);
}

/** Requires a grant beyond the one of the RPC's area. PERMISSION_DENIED (GRANT_MISSING). */
export function requireGrant(context: Pick<HandlerContext, 'values'>, grant: string): void {
  if (callerOf(context.values)?.grants.has(grant)) return;
  throw permissionDenied('GRANT_MISSING', `this call requires the grant ${grant}`, { grant });
}
