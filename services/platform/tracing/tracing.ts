import {
  type Attributes,
  context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { closeWithin } from '../process/close-within.ts';
import { rootOf } from './request-trace.ts';

/** Records the spans of this process. */
export interface Tracing {
  readonly tracer: Tracer;
  /** Whether the trace of this request is recorded: the same in every process. */
  isSampled(requestId: string): boolean;
  /** Starts a span with these ids and no parent. */
  startRoot(root: SpanContext, name: string, options: SpanOptions): Span;
  /** Sends the recorded spans. */
  close(): Promise<void>;
}

/** Undefined unless an endpoint for traces is configured. */
let current: Tracing | undefined;

/** Starts or stops recording spans. Call it before creating services, gateways or workers: they check it once. */
export function setTracing(tracing: Tracing | undefined): void {
  current = tracing;
}

/** A process that stops has used up nearly all of its ten seconds by then. */
const LAST_SPANS_MS = 1_000;

/** Stops recording and sends the spans recorded so far. A collector that is away neither fails nor delays the stop. */
export async function stopTracing(): Promise<void> {
  const sent = current?.close().catch(() => undefined);
  current = undefined;
  if (sent) await closeWithin(LAST_SPANS_MS, sent);
}

/** Whether this process records spans at all. */
export const isTracing = (): boolean => current !== undefined;

export interface TracedWork {
  readonly name: string;
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** Whether an error means that the work has failed. Default: each does. */
  readonly isFailure?: (error: unknown) => boolean;
}

/** Runs a step of the current trace in a span of its own; without a recorded trace, just runs it. */
export function traceStep<T>(describe: () => TracedWork, work: () => Promise<T>): Promise<T> {
  if (!current || !recordingSpan()) return work();
  const step = describe();
  return runIn(current.tracer.startSpan(step.name, optionsOf(step)), step, work);
}

/**
 * Runs work caused by a request in a span of the request's trace.
 * @param requestId of the request, which may have ended long ago.
 * @param work receives the span, if the trace is recorded.
 */
export function traceFor<T>(
  requestId: string,
  traced: TracedWork,
  work: (span?: Span) => Promise<T>,
): Promise<T> {
  const root = current && sampledRoot(requestId);
  return root ? traceWithin(root, requestId, traced, work) : work();
}

/** Like {@link traceFor}, under a known parent span. */
export function traceWithin<T>(
  parent: SpanContext,
  requestId: string,
  traced: TracedWork,
  work: (span?: Span) => Promise<T>,
): Promise<T> {
  if (!current) return work();
  const options = optionsOf(traced, requestId);
  const span = current.tracer.startSpan(traced.name, options, trace.setSpanContext(ROOT_CONTEXT, parent));
  return runIn(span, traced, () => work(span));
}

/** Starts the trace of a request; undefined if it is not recorded. The caller ends the span. */
export function startRequest(requestId: string, describe: () => TracedWork): Span | undefined {
  const root = current && sampledRoot(requestId);
  if (!root) return undefined;
  const traced = describe();
  return current!.startRoot(root, traced.name, optionsOf(traced, requestId));
}

/** The root of the trace of a request, if it is recorded. */
export function sampledRoot(requestId: string): SpanContext | undefined {
  return current && requestId !== '' && current.isSampled(requestId) ? rootOf(requestId) : undefined;
}

/** The active span, if it is recorded and has not ended: work may outlive the span it was started in. */
export function recordingSpan(): Span | undefined {
  if (!current) return undefined;
  const span = trace.getActiveSpan();
  return span?.isRecording() ? span : undefined;
}

/** Adds an event to the active span. */
export function noteInTrace(what: string, attributes: () => Attributes): void {
  recordingSpan()?.addEvent(what, attributes());
}

/** Runs work in a span and ends the span. Records only the type of an error: its message may contain personal data. */
export async function runIn<T>(
  span: Span,
  { isFailure = () => true }: Pick<TracedWork, 'isFailure'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await context.with(trace.setSpan(context.active(), span), work);
  } catch (error) {
    span.setAttribute('error.type', typeOf(error));
    if (isFailure(error)) span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

const optionsOf = ({ kind, attributes }: TracedWork, requestId?: string): SpanOptions => ({
  ...(kind !== undefined && { kind }),
  attributes: { ...attributes, ...(requestId !== undefined && { 'payments.request_id': requestId }) },
});
