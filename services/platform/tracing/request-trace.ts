import { hash } from 'node:crypto';
import { type SpanContext, TraceFlags } from '@opentelemetry/api';

const TRACE_ID_DIGITS = 32;
const SPAN_ID_DIGITS = 16;

/**
 * The root span of a request's trace. Its ids are taken from the SHA-256 of the request id, so that anything that knows
 * the request id can join the trace, in another process and days later, with nothing else stored.
 */
export function rootOf(requestId: string): SpanContext {
  const digits = hash('sha256', requestId);
  return {
    traceId: digits.slice(0, TRACE_ID_DIGITS),
    spanId: digits.slice(TRACE_ID_DIGITS, TRACE_ID_DIGITS + SPAN_ID_DIGITS),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  };
}

/** Carries the caller's span between our processes (W3C Trace Context). */
export const TRACEPARENT_HEADER = 'traceparent';

export const traceparentOf = ({ traceId, spanId }: SpanContext) => `00-${traceId}-${spanId}-01`;

/** The span in a `traceparent` header, if it belongs to this trace; callers cannot choose trace ids. */
export function parentIn(traceparent: string | null, root: SpanContext): SpanContext | undefined {
  const [, traceId, spanId] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/.exec(traceparent ?? '') ?? [];
  return traceId === root.traceId && spanId !== undefined ? { ...root, spanId } : undefined;
}
