import { Code, ConnectError } from '@connectrpc/connect';
import { type LogFn, type Logger, pino } from 'pino';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { isDatabaseFailing } from '../database/database-errors.ts';

/** The metrics of this process, served at /metrics. */
export const metrics = new Registry();
// In milliseconds. The default of 10 wakes an idle process a hundred times a second: a quarter of its CPU time.
collectDefaultMetrics({ register: metrics, eventLoopMonitoringPrecision: 100 });

export const rpcDuration = new Histogram({
  name: 'payments_rpc_duration_seconds',
  help: 'Time an RPC took in its service, by service, method and code.',
  labelNames: ['service', 'method', 'code'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  registers: [metrics],
});

/** A counter by one label. Every series starts at 0, so that the first event is an increase for Prometheus. */
export function counterBy<Label extends string>(
  label: Label,
  values: readonly string[],
  { name, help }: { readonly name: string; readonly help: string },
): Counter<Label> {
  const counter = new Counter({ name, help, labelNames: [label], registers: [metrics] });
  for (const value of values) counter.labels(value).inc(0);
  return counter;
}

/** Starts at 0, so that the first failure of an RPC is an increase for Prometheus. */
export const rpcFailures = new Counter({
  name: 'payments_rpc_failures_total',
  help: 'RPCs that were answered with INTERNAL.',
  registers: [metrics],
});

/** Below the 16 KiB that pino writes at once. */
const LOG_BUFFER_BYTES = 15_360;
const LOG_FLUSH_MS = 250;

/**
 * Creates a JSON logger to standard output or a file, with credentials redacted and errors by their plain fields; a warning
 * that something is unavailable has the error's text as its `reason` instead, because a stack adds nothing. Lines
 * are buffered briefly and written together, because a write per request costs as much as handling it. The buffer is
 * flushed when the process exits.
 */
export function createLogger(level: string, file?: string): Logger {
  return pino(
    {
      level,
      redact: ['req.headers.authorization', '*.authorization', '*.token', '*.secret', '*.key', '*.apiKey'],
      serializers: { err: errorFields, error: errorFields },
      hooks: { logMethod: logWithReason },
    },
    file === undefined ? standardOutput() : openDestination(file),
  );
}

function logWithReason(this: Logger, given: Parameters<LogFn>, log: LogFn, level: number): void {
  const [fields, message] = given;
  const isShort = level <= pino.levels.values.warn! && hasError(fields) && isUnavailability(fields.err);
  if (!isShort) {
    log.apply(this, given);
    return;
  }
  const { err, ...others } = fields;
  log.apply(this, [{ ...others, reason: String(err) }, message]);
}

const hasError = (fields: unknown): fields is { readonly err: unknown } =>
  typeof fields === 'object' && fields !== null && 'err' in fields;

/** Whether it says that PostgreSQL or the services are unavailable. */
const isUnavailability = (error: unknown): boolean =>
  error instanceof Error &&
  (isDatabaseFailing(error) || (error instanceof ConnectError && error.code === Code.Unavailable));

/**
 * An error as it is logged: type, message and stack, including those of its causes, and plain fields such as a code.
 * Other fields may hold whole connections, requests or descriptors.
 */
function errorFields(error: unknown): unknown {
  if (!isErrorLike(error)) return error;
  const { name, message, stack, ...fields } = pino.stdSerializers.err(error as Error) as unknown as Record<
    string,
    unknown
  >;
  const plain = Object.entries(fields).filter(([, value]) => Object(value) !== value);
  return { ...Object.fromEntries(plain), name, message, stack };
}

const isErrorLike = (value: unknown): boolean =>
  typeof (value as { message?: unknown } | null | undefined)?.message === 'string';

let sharedOutput: Destination | undefined;

/** One for all loggers of the process: each flushes four times a second, even without a line. */
function standardOutput(): Destination {
  sharedOutput ??= openDestination(1);
  return sharedOutput;
}

type Destination = ReturnType<typeof pino.destination>;

const openDestination = (dest: string | number): Destination =>
  pino.destination({ dest, sync: false, minLength: LOG_BUFFER_BYTES, periodicFlush: LOG_FLUSH_MS });
