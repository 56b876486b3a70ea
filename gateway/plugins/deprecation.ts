import type { GatewayApp } from '../gateway-app.ts';

/** The deprecation of an operation; adding it to the schema is all that is needed. */
export interface Deprecation {
  /** The date since which it is deprecated: YYYY-MM-DD, from the start of the day in UTC. */
  readonly since: string;
  /** The date on which it is removed, in the same form. */
  readonly sunset: string;
  /** URL, or path on this host, of a page that describes the replacement. */
  readonly link: string;
}

/** Adds the deprecation headers to every response of a deprecated route, errors included. Call it before adding routes. */
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

/** The headers of a deprecation: Deprecation (RFC 9745), Sunset (RFC 8594) and Link. */
export function deprecationHeaders({ since, sunset, link }: Deprecation) {
  return {
    deprecation: `@${startOf(since).getTime() / 1_000}`,
    sunset: startOf(sunset).toUTCString(),
    link: `<${link}>; rel="deprecation"; type="text/html"`,
  };
}

function startOf(date: string): Date {
  const start = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(start.getTime())) throw new TypeError(`${date} is not a date of the form YYYY-MM-DD`);
  return start;
}
