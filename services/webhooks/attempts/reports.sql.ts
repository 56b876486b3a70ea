import type { AttemptResult } from '../deliveries/delivery.ts';

/**
 * A part of a `with` clause: the lanes that are still owned by the process that made the attempts, locked so that no other
 * takes them before the transaction ends. Reads `lane` and `epoch` of the relation `report`, which are null for attempts
 * that anyone may report.
 */
export const FENCE = `
fence as materialized (
  select l.id, l.epoch from webhooks.lane l
   where (l.id, l.epoch) in (select lane, epoch from report where lane is not null)
   order by l.id for share
)`;

/** The columns of an attempt's result, with their types. */
const RESULT_TYPES = {
  latency_ms: 'int',
  http_status: 'int',
  failure: 'text',
  response_excerpt: 'text',
  detail: 'text',
  signature: 'text',
  timing_ms: 'int[]',
  response_headers: 'text',
};

export const RESULT_COLUMNS = Object.keys(RESULT_TYPES);

/** The result in the column definitions of `json_to_recordset`. */
export const RESULT_DEFINITIONS = Object.entries(RESULT_TYPES)
  .map((column) => column.join(' '))
  .join(', ');

/** The values of the result's columns; null while the attempt is in flight. */
export const resultRow = (result: AttemptResult | undefined): Record<keyof typeof RESULT_TYPES, unknown> => ({
  latency_ms: result?.latencyMs ?? null,
  http_status: result?.httpStatus ?? null,
  failure: result?.failure ?? null,
  response_excerpt: result?.responseExcerpt ?? null,
  detail: result?.detail ?? null,
  signature: result?.signature ?? null,
  timing_ms: result?.timingMs ?? null,
  response_headers: result?.responseHeaders ?? null,
});
