import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { isTracing, traceFor } from '../../platform/tracing/tracing.ts';
import { type AttemptResult, isSuccess } from '../deliveries/delivery.ts';
import type { QueuedDelivery } from './delivery-reader.ts';

const REQUEST_ID = /"requestId":("(?:[^"\\]|\\.)*")/;

/** Makes an attempt part of the trace of the request that caused the event, if this process records traces. */
export function traceAttempt(
  { id, merchant_id, event_id, subscription_id, attempt_count, body }: QueuedDelivery,
  send: () => Promise<AttemptResult>,
): Promise<AttemptResult> {
  if (!isTracing()) return send();
  const [, requestId = '""'] = REQUEST_ID.exec(body) ?? [];
  const attributes = {
    'payments.merchant_id': merchant_id,
    'payments.delivery_id': id,
    'payments.event_id': event_id,
    'payments.subscription_id': subscription_id,
    'payments.attempt': attempt_count + 1,
  };
  const traced = { name: 'webhook attempt', kind: SpanKind.CLIENT, attributes };
  return traceFor(JSON.parse(requestId), traced, async (span) => {
    const result = await send();
    const { httpStatus, failure } = result;
    if (httpStatus !== undefined) span?.setAttribute('http.response.status_code', httpStatus);
    if (failure !== undefined) span?.setAttribute('error.type', failure);
    if (!isSuccess(result)) span?.setStatus({ code: SpanStatusCode.ERROR });
    return result;
  });
}
