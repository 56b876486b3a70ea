import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client';
import { returnPathOf } from './return-path.ts';

/** What a browser that went to the provider has to come back with, or knows. */
export interface SignInFlow {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** Path and query of this host. */
  readonly returnPath: string;
}

/** One cookie per flow, named for its state, so that tabs that sign in at once do not disturb each other. */
const PREFIX = '__Host-sign-in-';
const ATTRIBUTES = { path: '/', httpOnly: true, secure: true, sameSite: 'lax' } as const;
const LIFETIME_S = 10 * 60;
const MOST_FLOWS = 10;
const STATE = /^[\w-]{43}$/;
const VALUE = /^(\d{1,12})\.([\w-]{43})\.([\w-]{43})\.([\w-]*)$/;

/** Begins a sign-in, which the browser alone remembers, for ten minutes. */
export function beginFlow(request: FastifyRequest, reply: FastifyReply, returnPath: string): SignInFlow {
  const open = Object.keys(request.cookies).filter(isFlow);
  // Those were left lying: browsers would send them until requests are too large.
  if (open.length >= MOST_FLOWS) for (const name of open) reply.clearCookie(name, ATTRIBUTES);
  const flow = {
    ...{ state: randomState(), nonce: randomNonce(), codeVerifier: randomPKCECodeVerifier() },
    returnPath,
  };
  const path = Buffer.from(returnPath).toString('base64url');
  const value = [nowS() + LIFETIME_S, flow.nonce, flow.codeVerifier, path].join('.');
  reply.setCookie(`${PREFIX}${flow.state}`, value, { ...ATTRIBUTES, maxAge: LIFETIME_S });
  return flow;
}

/** Takes the flow of a state away from the browser; undefined when it has none, or not any more. */
export function endFlow(
  request: FastifyRequest,
  reply: FastifyReply,
  state: unknown,
): SignInFlow | undefined {
  if (typeof state !== 'string' || !STATE.test(state)) return undefined;
  const value = request.cookies[`${PREFIX}${state}`];
  if (value === undefined) return undefined;
  reply.clearCookie(`${PREFIX}${state}`, ATTRIBUTES);
  const [, expiresAt = '', nonce = '', codeVerifier = '', path = ''] = VALUE.exec(value) ?? [];
  if (Number(expiresAt) <= nowS()) return undefined;
  return { state, nonce, codeVerifier, returnPath: returnPathOf(Buffer.from(path, 'base64url').toString()) };
}

/** Other names, which none of ours has, may not even be names that a cookie can be given. */
const isFlow = (name: string) => name.startsWith(PREFIX) && STATE.test(name.slice(PREFIX.length));

const nowS = () => Math.floor(Date.now() / 1_000);
