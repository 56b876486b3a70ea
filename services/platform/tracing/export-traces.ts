import { hostname } from 'node:os';
import { pid } from 'node:process';
import { crc32 } from 'node:zlib';
import {
  context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type SpanContext,
  type SpanOptions,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, RandomIdGenerator, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { Tracing } from './tracing.ts';

export interface TraceExport {
  readonly process: string;
  /** The base URL of a collector; traces are sent to `/v1/traces` below it. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The share of traces that are recorded, from 0 to 1. */
  readonly ratio: number;
  readonly logger: Logger;
}

/** Sends spans in batches with OTLP over HTTP, as JSON. While the collector is away, spans are dropped and a line logged. */
export function exportTraces({ process, endpoint, headers, ratio, logger }: TraceExport): Tracing {
  const warn = (message: string) => logger.warn({ reason: message }, 'traces cannot be sent');
  diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const ids = new RootIds();
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers: { ...headers } });
  const provider = new TracerProvider({
    idGenerator: ids,
    resource: resourceFromAttributes({
      'service.namespace': 'merchant-payments',
      'service.name': `payments-${process}`,
      'service.instance.id': `${hostname()}:${pid}`,
    }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('merchant-payments');
  return {
    tracer,
    // Most requests are not recorded: a checksum decides more cheaply than the SHA-256 that the trace id is taken from.
    isSampled: (requestId) => crc32(requestId) < ratio * CRC32_RANGE,
    startRoot: (root: SpanContext, name: string, options: SpanOptions) =>
      ids.within(root, () => tracer.startSpan(name, { ...options, root: true }, ROOT_CONTEXT)),
    async close() {
      await provider.shutdown();
      context.disable();
      diag.disable();
    },
  };
}

/** The number of values of a CRC-32. */
const CRC32_RANGE = 2 ** 32;

const ignore = () => undefined;

/** Generates random ids, except for the root of a trace. */
class RootIds extends RandomIdGenerator {
  #root: SpanContext | undefined;

  /** Runs a function whose spans get the ids of this root. */
  within<T>(root: SpanContext, start: () => T): T {
    this.#root = root;
    try {
      return start();
    } finally {
      this.#root = undefined;
    }
  }

  override generateTraceId(): string {
    return this.#root?.traceId ?? super.generateTraceId();
  }

  override generateSpanId(): string {
    return this.#root?.spanId ?? super.generateSpanId();
  }
}
