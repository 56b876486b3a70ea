import type { IncomingMessage } from 'node:http';
import type { GatewayApp } from '../gateway-app.ts';
import { Problem, pathOf } from '../problem.ts';

const MAX_TARGET_LENGTH = 8_000;
const HOST = 'host';
const EMPTY_SEGMENT = /\/(\/|$)/;
const METHODS = ['GET', 'HEAD', 'POST'] as const;

/** Refuses what is for no route, before anything else is looked at: 414, 400 without one Host, 404, 405. */
export function refuseUnroutable(app: GatewayApp): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const target = request.raw.url ?? '';
    if (target.length > MAX_TARGET_LENGTH) throw uriTooLong();
    if (!namesOneHost(request.raw)) {
      throw new Problem('INVALID_REQUEST', 'Header Host is required, once.');
    }
    if (request.is404 || hasEmptyParameter(request.params)) {
      throw noRoute(app, request.method, pathOf(target));
    }
    done();
  });
}

/** Node.js keeps the first of several Host headers; a proxy before us may have gone by another. */
function namesOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}

/** The router takes an empty segment for a parameter's value; to the API it is another path. */
function hasEmptyParameter(params: unknown): boolean {
  const values = params as Readonly<Record<string, string>>;
  for (const name in values) if (values[name] === '') return true;
  return false;
}

/** The refusal of a request target that is longer than we read. */
export function uriTooLong(): Problem {
  return new Problem('URI_TOO_LONG', `The request target must be at most ${MAX_TARGET_LENGTH} characters.`);
}

function noRoute(app: GatewayApp, method: string, path: string): Problem {
  const allowed = EMPTY_SEGMENT.test(path)
    ? []
    : METHODS.filter((candidate) => app.findRoute({ method: candidate, url: path }) !== null);
  if (allowed.length === 0) return new Problem('ROUTE_NOT_FOUND', 'There is no operation at this path.');
  const allow = allowed.join(', ');
  return new Problem('METHOD_NOT_ALLOWED', `The method ${method} is not allowed here; allowed: ${allow}.`, {
    allow,
  });
}
