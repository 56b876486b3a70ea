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
import { rootOf } from './request-trace.ts';

/** What records the spans of this process. */
export interface Tracing {
  readonly tracer: Tracer;
  /** Whether this trace is recorded: the same in every process. */
  isSampled(traceId: string): boolean;
  /** Starts a span that has these ids, and no parent. */
  startRoot(root: SpanContext, name: string, options: SpanOptions): Span;
  /** Sends what has been recorded. */
  close(): Promise<void>;
}

/** Undefined unless an endpoint for traces is configured. */
let current: Tracing | undefined;

/** Records spans from now on, or no longer. Call it before what makes them is created. */
export function setTracing(tracing: Tracing | undefined): void {
  current = tracing;
}

/** Sends what has been recorded, and records nothing more. */
export async function stopTracing(): Promise<void> {
  const stopped = current;
  current = undefined;
  await stopped?.close();
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

/** Runs a step of the work that is being traced, if any is. */
export function traceStep<T>(describe: () => TracedWork, work: () => Promise<T>): Promise<T> {
  if (!current || !recordingSpan()) return work();
  const step = describe();
  return runIn(current.tracer.startSpan(step.name, optionsOf(step)), step, work);
}

/**
 * Runs work that a request has caused as part of the request's trace.
 * @param requestId of the request, which may have ended long ago.
 * @param work gets the span, if the trace is recorded.
 */
export function traceFor<T>(
  requestId: string,
  traced: TracedWork,
  work: (span?: Span) => Promise<T>,
): Promise<T> {
  const root = current && sampledRoot(requestId);
  return root ? traceWithin(root, requestId, traced, work) : work();
}

/** The same for work whose parent is known. */
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

/** Begins the trace of a request; undefined if it is not recorded. The caller ends the span. */
export function startRequest(requestId: string, describe: () => TracedWork): Span | undefined {
  const root = current && sampledRoot(requestId);
  if (!root) return undefined;
  const traced = describe();
  return current!.startRoot(root, traced.name, optionsOf(traced, requestId));
}

/** The root of the trace of a request, if it is recorded. */
export function sampledRoot(requestId: string): SpanContext | undefined {
  if (!current || requestId === '') return undefined;
  const root = rootOf(requestId);
  return current.isSampled(root.traceId) ? root : undefined;
}

/** The span that this code runs in; undefined after it has ended, as in work that only was begun in it. */
export function recordingSpan(): Span | undefined {
  if (!current) return undefined;
  const span = trace.getActiveSpan();
  return span?.isRecording() ? span : undefined;
}

/** Notes in the trace what this code has done. */
export function noteInTrace(what: string, attributes: () => Attributes): void {
  recordingSpan()?.addEvent(what, attributes());
}

/** Runs work in a span and ends it. Of an error it has the type alone: messages may hold what people have written. */
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
