import { type ContextValues, createContextKey, type HandlerContext } from '@connectrpc/connect';
import { permissionDenied } from '../errors.ts';

/** Who calls, and what it may do: `<area>:read`, `<area>:write` and the grants that stand alone. */
export interface Caller {
  readonly name: string;
  readonly grants: ReadonlySet<string>;
}

/** The person for whom a caller acts, as the caller vouches for her. */
export interface Actor {
  readonly accountId: string;
  /** Where the person is, as the caller sees it. */
  readonly ipAddress: string;
}

/** Request headers by which a caller with the grant on-behalf-of names the person for whom it acts. */
export const ACTOR_HEADERS = { accountId: 'acting-account', ipAddress: 'acting-address' } as const;

/** Response header of an answer that was given before. */
export const REPLAYED_HEADER = 'idempotency-replayed';

const callerKey = createContextKey<Caller | undefined>(undefined, { description: 'caller' });
const requestIdKey = createContextKey('', { description: 'request id' });
const actorKey = createContextKey<Actor | undefined>(undefined, { description: 'actor' });

/** Puts the caller and the causing request into the values of a call that is being taken in. */
export function identifyCall(values: ContextValues, caller: Caller, requestId: string): void {
  values.set(callerKey, caller).set(requestIdKey, requestId);
}

/** The caller of a call; undefined before anybody has been identified. */
export function callerOf(values: ContextValues): Caller | undefined {
  return values.get(callerKey);
}

/** The id of the request that caused this call; events and logs carry it. */
export function requestIdOf(context: Pick<HandlerContext, 'values'>): string {
  return context.values.get(requestIdKey);
}

/** Puts the person whom a call's headers name into its values, if they name one; the interceptors ask for the grant. */
export function identifyActor(
  values: ContextValues,
  headerOf: (name: string) => string | null | undefined,
): void {
  const accountId = headerOf(ACTOR_HEADERS.accountId) ?? undefined;
  if (accountId === undefined) return;
  values.set(actorKey, { accountId, ipAddress: headerOf(ACTOR_HEADERS.ipAddress) ?? '' });
}

/** The person for whom a call is made; undefined when a system acts for itself. */
export function actorOf(context: Pick<HandlerContext, 'values'>): Actor | undefined {
  return context.values.get(actorKey);
}

/** Refuses a caller without a grant that an RPC asks for beyond its area's. PERMISSION_DENIED (GRANT_MISSING). */
export function requireGrant(context: Pick<HandlerContext, 'values'>, grant: string): void {
  if (callerOf(context.values)?.grants.has(grant)) return;
  throw permissionDenied('GRANT_MISSING', `this call takes the grant ${grant}`, { grant });
}
