import { randomUUID } from 'node:crypto';
import type { GatewayApp } from '../gateway-app.ts';

/** Generates a request id. Ids sent by clients are ignored, so that every id is unique. */
export const newRequestId = (): string => randomUUID();

const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
} as const;

export const responseHeaders = (requestId: string) => ({ 'request-id': requestId, ...SECURITY_HEADERS });

export function addResponseHeaders(app: GatewayApp): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(responseHeaders(request.id));
    done();
  });
}
