import { SpanKind } from '@opentelemetry/api';
import { traceStep } from '../tracing/tracing.ts';

/**
 * Traces work on the database, if the current trace is recorded.
 * @param sql the statement as sent to PostgreSQL, without parameter values; undefined for several statements.
 */
export function traceSql<T>(name: string, sql: string | undefined, work: () => Promise<T>): Promise<T> {
  const describe = () => ({
    name: `postgresql ${name}`,
    kind: SpanKind.CLIENT,
    attributes: { 'db.system.name': 'postgresql', ...(sql !== undefined && { 'db.query.text': sql }) },
  });
  return traceStep(describe, work);
}
