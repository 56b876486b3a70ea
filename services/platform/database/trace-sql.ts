import { SpanKind } from '@opentelemetry/api';
import { traceStep } from '../tracing/tracing.ts';

/**
 * Makes work on the database part of the trace, if one is recorded.
 * @param sql the statement as PostgreSQL gets it, without the values of its parameters; undefined for several statements.
 */
export function traceSql<T>(name: string, sql: string | undefined, work: () => Promise<T>): Promise<T> {
  const describe = () => ({
    name: `postgresql ${name}`,
    kind: SpanKind.CLIENT,
    attributes: { 'db.system.name': 'postgresql', ...(sql !== undefined && { 'db.query.text': sql }) },
  });
  return traceStep(describe, work);
}
