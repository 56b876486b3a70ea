import { type Logger, pino } from 'pino';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** What /metrics of this process answers. */
export const metrics = new Registry();
collectDefaultMetrics({ register: metrics });

export const rpcDuration = new Histogram({
  name: 'payments_rpc_duration_seconds',
  help: 'Time an RPC took in its service, by service, method and code.',
  labelNames: ['service', 'method', 'code'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  registers: [metrics],
});

/** A JSON logger; credentials never reach it, whatever is logged. */
export function createLogger(level: string): Logger {
  return pino({
    level,
    redact: ['req.headers.authorization', '*.authorization', '*.token', '*.secret', '*.key', '*.apiKey'],
  });
}
