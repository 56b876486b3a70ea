import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The prefix makes browsers accept the cookie only from this exact host, over TLS, and for every path. */
const SESSION_COOKIE = '__Host-session';
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** The attributes of cookies that hold secrets: of the session, and of sign-ins in progress. */
export const COOKIE_ATTRIBUTES = { path: '/', httpOnly: true, secure: true, sameSite: 'lax' } as const;

/** The token in a request's session cookie; undefined when absent or malformed. */
export function sessionTokenOf({ cookies }: Pick<FastifyRequest, 'cookies'>): string | undefined {
  const token = cookies[SESSION_COOKIE];
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}

/** The SHA-256 hash by which the services know a token. */
export function tokenHashOf(token: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(createHash('sha256').update(token).digest());
}

/** Sets the session cookie. It has no expiry of its own: the service ends sessions. */
export function setSessionCookie(reply: FastifyReply, token: string): void {
  reply.setCookie(SESSION_COOKIE, token, COOKIE_ATTRIBUTES);
}

export function clearSessionCookie(reply: FastifyReply): void {
  reply.clearCookie(SESSION_COOKIE, COOKIE_ATTRIBUTES);
}

/** The CSRF token of a session's forms, derived from the session token. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url');
}

/** Whether a value is the session's CSRF token, compared in constant time. */
export function isCsrfToken(sessionToken: string, given: unknown): boolean {
  const expected = Buffer.from(csrfTokenOf(sessionToken));
  const actual = Buffer.from(typeof given === 'string' ? given : '');
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
