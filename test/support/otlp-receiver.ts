import { createServer } from 'node:http';
import { portOf } from './port-of.ts';

/** A span as received by a collector. */
export interface ReceivedSpan {
  /** The process that has recorded it. */
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly status: { readonly code: number };
  readonly attributes: readonly OtlpAttribute[];
  readonly events: readonly { readonly name: string }[];
}

const STATUS_ERROR = 2;

/** A collector that receives traces with OTLP over HTTP, as JSON, from senders with this header. */
export async function startOtlpReceiver(authorization: string) {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const isTraces = request.method === 'POST' && request.url === '/v1/traces';
    const isAccepted = isTraces && request.headers.authorization === authorization;
    if (isAccepted) bodies.push(String(body));
    response.writeHead(isAccepted ? 200 : 401, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  const spans = () => bodies.flatMap((body) => spansOf(JSON.parse(body) as OtlpRequest));
  return {
    endpoint: `http://127.0.0.1:${await portOf(server)}`,
    /** All that was received, as text. */
    text: () => bodies.join('\n'),
    /** The spans of a trace that have been received so far. */
    trace: (traceId: string): ReceivedSpan[] => spans().filter((span) => span.traceId === traceId),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const spansOf = ({ resourceSpans }: OtlpRequest): ReceivedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, spanId, parentSpanId = '', name, status, attributes, events }) => ({
        traceId,
        spanId,
        parentSpanId,
        name,
        service: String(plain(resource.attributes)['service.name']),
        failed: status.code === STATUS_ERROR,
        attributes: plain(attributes),
        events: events.map((event) => event.name),
      })),
    ),
  );

const plain = (attributes: readonly OtlpAttribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
