import type { IncomingMessage } from 'node:http';
import type { GatewayApp } from '../gateway-app.ts';
import { Problem, pathOf, staticProblem } from '../problems/problem.ts';

const MAX_TARGET_LENGTH = 8_000;
/** A host name or address with an optional port (RFC 3986); may be empty if the target has no authority. */
const HOST = /^(\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(:\d*)?$/i;
const METHODS = ['GET', 'HEAD', 'POST'] as const;
const MAX_METHOD_SHOWN = 50;

/**
 * Rejects requests that match no route, before any other check: 414; 400 for requests that a proxy may have parsed
 * differently; 404; 405.
 */
export function rejectUnroutable(app: GatewayApp): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const target = request.raw.url ?? '';
    if (target.length > MAX_TARGET_LENGTH) throw staticProblem('URI_TOO_LONG');
    const fault = faultOf(request.raw, target);
    if (fault !== undefined) throw new Problem('INVALID_REQUEST', fault);
    if (request.is404 || hasEmptyParameter(request.params)) {
      throw routeProblem(app, request.method, target);
    }
    done();
  });
}

function faultOf({ httpVersionMajor, rawHeaders, headers, httpVersion }: IncomingMessage, target: string) {
  if (httpVersionMajor !== 1) return 'The request must be HTTP/1.1.';
  if (target.includes('#')) return 'The request target must have no fragment.';
  // Node.js keeps the first of several; a proxy that kept the last one saw a different request.
  if (occurrences(rawHeaders, 'authorization') > 1) return 'Header Authorization must be given once.';
  if (occurrences(rawHeaders, 'content-type') > 1) return 'Header Content-Type must be given once.';
  const hosts = occurrences(rawHeaders, 'host');
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) return 'Header Host is required, once.';
  if (!HOST.test(headers.host ?? '')) return 'Header Host must be a host with an optional port.';
  return undefined;
}

function occurrences(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index]!;
    if (given.length === name.length && given.toLowerCase() === name) count += 1;
  }
  return count;
}

/** The router accepts an empty segment as a parameter value; the API does not. */
function hasEmptyParameter(params: unknown): boolean {
  const values = params as Readonly<Record<string, string>>;
  for (const name in values) if (values[name] === '') return true;
  return false;
}

/**
 * The problem of a method and target without a route: ROUTE_NOT_FOUND, METHOD_NOT_ALLOWED, or INVALID_REQUEST when the
 * path cannot be decoded.
 */
export function routeProblem(app: GatewayApp, method: string, target: string): Problem {
  const url = pathOf(target);
  if (!isDecodable(url)) return undecodablePath();
  const allowed = METHODS.filter((candidate) => {
    const route = app.findRoute({ method: candidate, url });
    return route !== null && !hasEmptyParameter(route.params);
  });
  if (allowed.length === 0) return staticProblem('ROUTE_NOT_FOUND');
  const allow = allowed.join(', ');
  const detail = `The method ${method.slice(0, MAX_METHOD_SHOWN)} is not allowed here; allowed: ${allow}.`;
  return new Problem('METHOD_NOT_ALLOWED', detail, { allow });
}

/** A path with invalid percent-encoding. */
export function undecodablePath(): Problem {
  return new Problem('INVALID_REQUEST', 'The path must be percent-encoded UTF-8.');
}

/** Whether a path has only valid percent-encoding. */
export function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
