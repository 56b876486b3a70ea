import type { Logger } from 'pino';
import type { Config } from '../process/config.ts';
import { setTracing } from './tracing.ts';

export type TracingConfig = Pick<
  Config,
  'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_TRACES_SAMPLER_ARG'
>;

/**
 * Starts recording and sending traces if an endpoint is configured; otherwise the SDK is not loaded. Call it before
 * creating anything that is traced.
 * @param process the kind of process, such as `services`.
 */
export async function startTracing(process: string, config: TracingConfig, logger: Logger): Promise<void> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config;
  if (endpoint === undefined) return;
  const { exportTraces } = await import('./export-traces.ts');
  const ratio = config.OTEL_TRACES_SAMPLER_ARG;
  setTracing(exportTraces({ process, endpoint, headers: config.OTEL_EXPORTER_OTLP_HEADERS, ratio, logger }));
  // Without its user and password, with which the exporter authenticates.
  const { origin, pathname } = new URL(endpoint);
  logger.info({ endpoint: `${origin}${pathname}`, ratio }, 'traces are sent');
}
