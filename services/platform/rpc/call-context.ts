import {
  type ContextValues,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from '@connectrpc/connect';
import { grantMissing } from './grants.ts';
import type { PersonRule } from './person-rules.ts';

/** The caller of an RPC and its grants, which docs/internal-grants.md lists. */
export interface Caller {
  readonly name: string;
  readonly grants: ReadonlySet<string>;
  /**
   * Throws a DomainError once its token or certificate is no longer valid; absent for callers that stay valid as long as the
   * process runs.
   */
  requireValid?(): Promise<void>;
}

/** A person's session as passed on by the caller, not yet verified. */
export interface ActorSession {
  readonly token: string;
  /** The IP address of the person, as seen by the caller. */
  readonly ipAddress: string;
}

/** The person who makes a call through a caller that holds the grant on-behalf-of; their session has been verified. */
export interface Actor {
  readonly accountId: string;
  readonly ipAddress: string;
  /** SHA-256 of the session's token. */
  readonly tokenSha256: Buffer;
  /** What the call requires of them. */
  readonly rule: PersonRule;
}

/** Request header with which internal callers propagate the id of the causing request. */
export const REQUEST_ID_HEADER = 'request-id';

/** Request headers with which a caller that holds the grant on-behalf-of passes on the session of the person it acts for. */
export const ACTOR_HEADERS = { sessionToken: 'session-token', ipAddress: 'acting-address' } as const;

/** Response header of a replayed response. */
export const REPLAYED_HEADER = 'idempotency-replayed';

/**
 * Request header with which the worker names the workflow that makes a call. Callers that hold the grant saga may send it.
 */
export const WORKFLOW_HEADER = 'workflow-id';

const callerKey = createContextKey<Caller | undefined>(undefined, { description: 'caller' });
const requestIdKey = createContextKey('', { description: 'request id' });
const workflowKey = createContextKey<string | undefined>(undefined, { description: 'workflow' });
const sessionKey = createContextKey<ActorSession | undefined>(undefined, { description: 'session' });
const actorKey = createContextKey<Actor | undefined>(undefined, { description: 'actor' });

/** The caller; undefined before it has been identified. */
export function callerOf(values: ContextValues): Caller | undefined {
  return values.get(callerKey);
}

export function callerNameOf(context: Pick<HandlerContext, 'values'>): string {
  return callerOf(context.values)?.name ?? '';
}

/** The id of the request that caused this call; events and logs carry it. */
export function requestIdOf(context: Pick<HandlerContext, 'values'>): string {
  return context.values.get(requestIdKey);
}

/**
 * The deadline of a call to another area, whose process may accept calls and never answer them. Shorter than that of the
 * gateway and the worker, so that they get an answer.
 */
const AREA_DEADLINE_MS = 8_000;

/** The share of its own caller's remaining time that a call to another area may take. */
const AREA_SHARE = 0.8;

/**
 * The options of a write in another area, on behalf of the request that caused this call. Its deadline depends on the remaining
 * time, so each call needs its own options. What continues after the caller's deadline, such as undoing a step, has the whole
 * area deadline.
 */
export function callFor(context: HandlerContext) {
  const remainingMs = context.timeoutMs() ?? Number.POSITIVE_INFINITY;
  const timeoutMs = remainingMs > 0 ? Math.min(AREA_DEADLINE_MS, remainingMs * AREA_SHARE) : AREA_DEADLINE_MS;
  return { headers: { [REQUEST_ID_HEADER]: requestIdOf(context) }, timeoutMs: Math.ceil(timeoutMs) };
}

/** The options of a read in another area: as of a write, but it also ends once the caller stops waiting. */
export const readFor = (context: HandlerContext) => ({ ...callFor(context), signal: context.signal });

/** Reads one header of a call. */
export type Header = (name: string) => string | null | undefined;

/**
 * Stores the caller and the id of the causing request in the values of an incoming call, and the workflow and the session
 * in its headers, if any. The interceptors verify the session.
 */
export function identifyCall(values: ContextValues, caller: Caller, requestId: string, header: Header): void {
  values.set(callerKey, caller).set(requestIdKey, requestId);
  const workflowId = header(WORKFLOW_HEADER) ?? undefined;
  if (workflowId !== undefined && caller.grants.has('saga')) values.set(workflowKey, workflowId);
  const token = header(ACTOR_HEADERS.sessionToken) ?? undefined;
  if (token === undefined) return;
  values.set(sessionKey, { token, ipAddress: header(ACTOR_HEADERS.ipAddress) ?? '' });
}

/** The session that came with a call; undefined when a service acts as itself. */
export function sessionOf(values: ContextValues): ActorSession | undefined {
  return values.get(sessionKey);
}

/** Stores the person whose session has been verified. */
export function storeActor(values: ContextValues, actor: Actor): void {
  values.set(actorKey, actor);
}

/** The person who makes a call; undefined when a service acts as itself. */
export function actorOf(context: Pick<HandlerContext, 'values'>): Actor | undefined {
  return context.values.get(actorKey);
}

/** Who causes a write. */
export interface Origin {
  /** The service that makes the call; undefined in the background. */
  readonly caller?: string | undefined;
  /** The person who makes the call. */
  readonly accountId?: string | undefined;
  /** The workflow that makes the call: the write is attributed to its starter. */
  readonly workflowId?: string | undefined;
}

/** Who causes the writes of a call. */
export function originOf(context: Pick<HandlerContext, 'values'>): Origin {
  return {
    caller: callerOf(context.values)?.name,
    accountId: actorOf(context)?.accountId,
    workflowId: context.values.get(workflowKey),
  };
}

/** The context of background work; events and logs carry the id of the request that caused it. */
export function backgroundContext(requestId: string): Pick<HandlerContext, 'values'> {
  return { values: createContextValues().set(requestIdKey, requestId) };
}

/** Requires a grant in addition to the RPC's own. PERMISSION_DENIED (GRANT_MISSING). */
export function requireGrant(context: Pick<HandlerContext, 'values'>, grant: string): void {
  if (!callerOf(context.values)?.grants.has(grant)) throw grantMissing(grant);
}
