import { setTimeout as delay } from 'node:timers/promises';
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from '../../../proto/gen/health/v1/health_pb.js';
import { notFound } from '../errors.ts';
import { bindService, type ServiceBinding } from './service-binding.ts';

const WATCH_INTERVAL_MS = 1_000;

/**
 * grpc.health.v1 over what this process serves: SERVING while it is healthy.
 * @param stopping ends the streams of those who watch.
 */
export function healthService(
  serviceNames: readonly string[],
  isHealthy: () => Promise<boolean>,
  stopping: AbortSignal,
): ServiceBinding {
  const known = new Set(['', ...serviceNames]);
  const status = async () => (!stopping.aborted && (await isHealthy()) ? Status.SERVING : Status.NOT_SERVING);
  return bindService(Health, {
    async check({ service }) {
      if (!known.has(service)) throw notFound('SERVICE_NOT_FOUND', 'unknown service', { service });
      return { status: await status() };
    },
    async *watch({ service }, { signal: caller }) {
      const signal = AbortSignal.any([caller, stopping]);
      let last: Status | undefined;
      while (!caller.aborted) {
        const now = known.has(service) ? await status() : Status.SERVICE_UNKNOWN;
        if (now !== last) yield { status: now };
        if (stopping.aborted) return;
        last = now;
        await delay(WATCH_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
      }
    },
    async list() {
      const now = { status: await status() };
      return { statuses: Object.fromEntries([...known].map((name) => [name, now])) };
    },
  });
}
