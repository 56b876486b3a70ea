import { SpanKind } from '@opentelemetry/api';
import { traceStep } from '../tracing/tracing.ts';

/**
 * Makes work on the database part of the trace.
 * @param sql of a single statement, with its parameters as placeholders.
 */
export function traceSql<T>(name: string, sql: string | undefined, work: () => Promise<T>): Promise<T> {
  const attributes = { 'db.system.name': 'postgresql', ...(sql !== undefined && { 'db.query.text': sql }) };
  return traceStep({ name: `postgresql ${name}`, kind: SpanKind.CLIENT, attributes }, work);
}
