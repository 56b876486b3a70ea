import type { GatewayApp } from '../gateway-app.ts';
import { Problem, pathOf } from '../problem.ts';

const MAX_TARGET_LENGTH = 8_000;
const METHODS = ['GET', 'HEAD', 'POST'] as const;

/** Refuses what is for no route, before anything else is looked at: 414, 400 without Host, 404, 405. */
export function refuseUnroutable(app: GatewayApp): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const target = request.raw.url ?? '';
    if (target.length > MAX_TARGET_LENGTH) throw uriTooLong();
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      throw new Problem('INVALID_REQUEST', 'Header Host is required.');
    }
    if (request.is404) throw noRoute(app, request.method, pathOf(target));
    done();
  });
}

/** The refusal of a request target that is longer than we read. */
export function uriTooLong(): Problem {
  return new Problem('URI_TOO_LONG', `The request target must be at most ${MAX_TARGET_LENGTH} characters.`);
}

function noRoute(app: GatewayApp, method: string, path: string): Problem {
  const allowed = METHODS.filter((candidate) => app.findRoute({ method: candidate, url: path }) !== null);
  if (allowed.length === 0) return new Problem('ROUTE_NOT_FOUND', 'There is no operation at this path.');
  const allow = allowed.join(', ');
  return new Problem('METHOD_NOT_ALLOWED', `The method ${method} is not allowed here; allowed: ${allow}.`, {
    allow,
  });
}
