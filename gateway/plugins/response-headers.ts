import { randomUUID } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { GatewayApp } from '../gateway-app.ts';

/** A request's id. Ids sent by clients are ignored, so that no two requests share one. */
export const newRequestId = (): string => randomUUID();

const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
} as const;

/** The headers of every answer, whoever writes it. */
export const answerHeaders = (requestId: string) => ({ 'request-id': requestId, ...SECURITY_HEADERS });

/** Puts the request's id and the security headers on every answer, successes too. */
export function addAnswerHeaders(app: GatewayApp): void {
  app.addHook('onRequest', (request, reply, done) => {
    setAnswerHeaders(reply, request.id);
    done();
  });
}

/** The same for an answer that hooks do not see. */
export function setAnswerHeaders(reply: FastifyReply, requestId: string): void {
  reply.headers(answerHeaders(requestId));
}
