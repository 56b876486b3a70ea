import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The prefix has browsers take it from this very host alone, over a secure connection, for every path. */
const SESSION_COOKIE = '__Host-session';
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const ATTRIBUTES = { path: '/', httpOnly: true, secure: true, sameSite: 'lax' } as const;

/** The token in a request's session cookie; undefined where there is none that could be one. */
export function sessionTokenOf({ cookies }: Pick<FastifyRequest, 'cookies'>): string | undefined {
  const token = cookies[SESSION_COOKIE];
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}

/** What the services know a token by. */
export function tokenHashOf(token: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(createHash('sha256').update(token).digest());
}

/** Gives a browser its session; the session's expiry is the service's affair. */
export function setSessionCookie(reply: FastifyReply, token: string): void {
  reply.setCookie(SESSION_COOKIE, token, ATTRIBUTES);
}

/** Takes its session from a browser. */
export function clearSessionCookie(reply: FastifyReply): void {
  reply.clearCookie(SESSION_COOKIE, ATTRIBUTES);
}

/** What every form of a session carries: nobody else can know it, and it is no other session's. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url');
}

/** Whether a form carries its session's token. */
export function isCsrfToken(sessionToken: string, given: unknown): boolean {
  const expected = Buffer.from(csrfTokenOf(sessionToken));
  const actual = Buffer.from(typeof given === 'string' ? given : '');
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
