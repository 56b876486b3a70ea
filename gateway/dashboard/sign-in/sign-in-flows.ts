import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client';
import { COOKIE_ATTRIBUTES } from '../session/session-cookie.ts';
import { returnPathOf } from './return-path.ts';

/** The state of a sign-in that the browser started. */
export interface SignInFlow {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** Path and query on this host. */
  readonly returnPath: string;
}

/** Each flow has its own cookie, named after its state, so that several tabs can sign in at once. */
const PREFIX = '__Host-sign-in-';
const LIFETIME_S = 10 * 60;
const MAX_FLOWS = 10;
const STATE = /^[\w-]{43}$/;
const VALUE = /^(\d{1,12})\.([\w-]{43})\.([\w-]{43})\.([\w-]*)$/;

/** Starts a sign-in, stored only in the browser, for ten minutes. */
export function beginFlow(request: FastifyRequest, reply: FastifyReply, returnPath: string): SignInFlow {
  const open = Object.keys(request.cookies).filter(isFlow);
  // Abandoned flows would add up until the request headers are too large.
  if (open.length >= MAX_FLOWS) for (const name of open) reply.clearCookie(name, COOKIE_ATTRIBUTES);
  const flow = {
    state: randomState(),
    nonce: randomNonce(),
    codeVerifier: randomPKCECodeVerifier(),
    returnPath,
  };
  const path = Buffer.from(returnPath).toString('base64url');
  const value = [nowS() + LIFETIME_S, flow.nonce, flow.codeVerifier, path].join('.');
  reply.setCookie(`${PREFIX}${flow.state}`, value, { ...COOKIE_ATTRIBUTES, maxAge: LIFETIME_S });
  return flow;
}

/** Returns the flow of a state and removes it from the browser; undefined when absent or expired. */
export function endFlow(
  request: FastifyRequest,
  reply: FastifyReply,
  state: unknown,
): SignInFlow | undefined {
  if (typeof state !== 'string' || !STATE.test(state)) return undefined;
  const value = request.cookies[`${PREFIX}${state}`];
  if (value === undefined) return undefined;
  reply.clearCookie(`${PREFIX}${state}`, COOKIE_ATTRIBUTES);
  const [, expiresAt = '', nonce = '', codeVerifier = '', path = ''] = VALUE.exec(value) ?? [];
  if (Number(expiresAt) <= nowS()) return undefined;
  return { state, nonce, codeVerifier, returnPath: returnPathOf(Buffer.from(path, 'base64url').toString()) };
}

/** Clearing a cookie whose name is malformed would throw. */
const isFlow = (name: string) => name.startsWith(PREFIX) && STATE.test(name.slice(PREFIX.length));

const nowS = () => Math.floor(Date.now() / 1_000);
