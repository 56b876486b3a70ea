import { SpanKind } from '@opentelemetry/api';
import { isTracing, traceStep } from '../tracing/tracing.ts';

/**
 * Makes work on the database part of the trace, if this process records traces.
 * @param sql the statement as PostgreSQL gets it, without the values of its parameters; undefined for several statements.
 */
export function traceSql<T>(name: string, sql: string | undefined, work: () => Promise<T>): Promise<T> {
  if (!isTracing()) return work();
  const attributes = { 'db.system.name': 'postgresql', ...(sql !== undefined && { 'db.query.text': sql }) };
  return traceStep({ name: `postgresql ${name}`, kind: SpanKind.CLIENT, attributes }, work);
}
