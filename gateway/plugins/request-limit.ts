import { countOverloads } from '../../services/platform/process/overload.ts';
import type { GatewayApp } from '../gateway-app.ts';
import { serviceUnavailable } from '../problems/rpc-problems.ts';

/**
 * Limits how many requests are handled at once; refuses more with SERVICE_UNAVAILABLE. A request counts from the
 * arrival of its body until its response is ready, so that slow clients take no capacity. Streams of the command-line
 * tool have limits of their own. Call it before adding routes.
 */
export function limitRequests(app: GatewayApp, maxConcurrent: number): void {
  const countRefusal = countOverloads('public');
  // A Set of requests would keep them in memory: V8 leaves the entries of a table that a Set has outgrown until the next
  // full garbage collection.
  let running = 0;
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith('/v1/')) return;
    route.preHandler = [
      (request, _reply, done) => {
        if (running >= maxConcurrent) {
          countRefusal();
          return done(serviceUnavailable());
        }
        request.isCounted = true;
        running += 1;
        done();
      },
      ...[route.preHandler ?? []].flat(),
    ];
    route.onSend = [
      (request, _reply, payload, done) => {
        if (request.isCounted) {
          request.isCounted = false;
          running -= 1;
        }
        done(null, payload);
      },
      ...[route.onSend ?? []].flat(),
    ];
  });
}
