import type { DescMethod, Message } from '@bufbuild/protobuf';
import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { SpanKind } from '@opentelemetry/api';
import { REQUEST_ID_HEADER, requestIdOf } from '../rpc/call-context.ts';
import { parentIn, TRACEPARENT_HEADER, traceparentOf } from './request-trace.ts';
import {
  isTracing,
  recordingSpan,
  runIn,
  sampledRoot,
  startRequest,
  type TracedWork,
  traceStep,
  traceWithin,
} from './tracing.ts';

/** Traces each unary call as part of its request. Streams are left out: they last as long as their caller listens. */
export const tracedCalls = (): Interceptor[] => (isTracing() ? [traceCall] : []);

const traceCall: Interceptor = (next) => (request) => {
  if (request.stream) return next(request);
  const requestId = requestIdOf({ values: request.contextValues });
  const root = sampledRoot(requestId);
  if (!root) return next(request);
  const call = describe(request.method, request.message);
  const run = () => next(request);
  // The caller is in this process.
  if (recordingSpan()?.spanContext().traceId === root.traceId) return traceStep(() => call, run);
  const parent = parentIn(request.header.get(TRACEPARENT_HEADER), root);
  if (parent) return traceWithin(parent, requestId, call, run);
  if (request.header.has(REQUEST_ID_HEADER)) return traceWithin(root, requestId, call, run);
  // Calls without a merchant poll for work or check health.
  if (!('merchantId' in request.message)) return run();
  const span = startRequest(requestId, () => call);
  return span ? runIn(span, call, run) : run();
};

/** Sends the active span to services in another process. */
export const propagatedTraces = (): Interceptor[] => (isTracing() ? [propagateTrace] : []);

const propagateTrace: Interceptor = (next) => (request) => {
  const span = recordingSpan();
  if (span) request.header.set(TRACEPARENT_HEADER, traceparentOf(span.spanContext()));
  return next(request);
};

function describe({ parent, name }: DescMethod, message: Message): TracedWork {
  const merchantId = 'merchantId' in message && String(message.merchantId);
  return {
    name: `${parent.typeName}/${name}`,
    kind: SpanKind.SERVER,
    attributes: {
      'rpc.system.name': 'connectrpc',
      'rpc.method': `${parent.typeName}/${name}`,
      ...(merchantId && { 'payments.merchant_id': merchantId }),
    },
    isFailure,
  };
}

const FAILURES: ReadonlySet<Code> = new Set([
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
]);

const isFailure = (error: unknown) => FAILURES.has(ConnectError.from(error).code);
