import { AttemptFailure, type EndpointHealth } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { EndpointHealthRow } from './endpoint-health.queries.ts';
import { latencyQuantileMs } from './endpoint-latency.ts';

const P95 = 0.95;

export const endpointHealthMessage = (row: EndpointHealthRow): EndpointHealth => ({
  $typeName: 'payments.webhooks.v1.EndpointHealth',
  failingSince: row.failing_since ?? undefined,
  httpStatus: row.http_status ?? undefined,
  failure: row.failure ? AttemptFailure[row.failure] : undefined,
  attempts: BigInt(row.succeeded + row.failed),
  delivered: BigInt(row.succeeded),
  lastSuccessAt: row.last_success_at ?? undefined,
  p95Ms: row.latencies ? latencyQuantileMs(row.latencies, P95) : undefined,
});
