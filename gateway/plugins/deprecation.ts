import type { GatewayApp } from '../gateway-app.ts';

/** That an operation will be taken away; in its schema it is all that there is to write. */
export interface Deprecation {
  /** Since when it is deprecated: a date as YYYY-MM-DD, from its start in UTC. */
  readonly since: string;
  /** When it will be gone, likewise. */
  readonly sunset: string;
  /** URL, or path on this host, of what says what takes its place. */
  readonly link: string;
}

/** Has every answer of a deprecated route say so, errors included. To be called before the routes are added. */
export function announceDeprecations(app: GatewayApp): void {
  app.addHook('onRoute', (route) => {
    const { deprecation } = (route.schema ?? {}) as { deprecation?: Deprecation };
    if (deprecation === undefined) return;
    const headers = deprecationHeaders(deprecation);
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      (_request, reply, payload, done) => {
        reply.headers(headers);
        done(null, payload);
      },
    ];
  });
}

/** The headers that say it: Deprecation as in RFC 9745, Sunset as in RFC 8594. */
export function deprecationHeaders({ since, sunset, link }: Deprecation) {
  return {
    deprecation: `@${startOf(since).getTime() / 1_000}`,
    sunset: startOf(sunset).toUTCString(),
    link: `<${link}>; rel="deprecation"; type="text/html"`,
  };
}

function startOf(date: string): Date {
  const start = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(start.getTime())) throw new TypeError(`${date} is no date as YYYY-MM-DD`);
  return start;
}
