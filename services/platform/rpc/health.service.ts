import { setTimeout as delay } from 'node:timers/promises';
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from '../../../proto/gen/health/v1/health_pb.js';
import { notFound } from '../errors.ts';
import { bindService, type ServiceBinding } from './service-binding.ts';

const WATCH_INTERVAL_MS = 1_000;

/** The name under which health says whether the database answers, whether or not the process is stopping. */
export const DATABASE = 'database';

export interface HealthOptions {
  /** Whether the database answers. */
  readonly databaseAnswers: () => Promise<boolean>;
  /** Whether calls should go to other processes, although this one still answers them. */
  readonly isDraining: () => boolean;
  /** Ends the streams of those who watch. */
  readonly stopping: AbortSignal;
}

/**
 * grpc.health.v1 over what this process serves: SERVING while the database answers and the process is not stopping.
 * DATABASE stays SERVING while the process stops, for callers that ask whether their calls are answered at all.
 */
export function healthService(
  serviceNames: readonly string[],
  { databaseAnswers, isDraining, stopping }: HealthOptions,
): ServiceBinding {
  const known = new Set(['', DATABASE, ...serviceNames]);
  const statusOf = async (service: string) => {
    const isAvailable = service === DATABASE || !(stopping.aborted || isDraining());
    return isAvailable && (await databaseAnswers()) ? Status.SERVING : Status.NOT_SERVING;
  };
  return bindService(Health, {
    async check({ service }) {
      if (!known.has(service)) throw notFound('SERVICE_NOT_FOUND', 'unknown service', { service });
      return { status: await statusOf(service) };
    },
    async *watch({ service }, { signal: caller }) {
      const signal = AbortSignal.any([caller, stopping]);
      let last: Status | undefined;
      while (!caller.aborted) {
        const now = known.has(service) ? await statusOf(service) : Status.SERVICE_UNKNOWN;
        if (now !== last) yield { status: now };
        if (stopping.aborted) return;
        last = now;
        await delay(WATCH_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
      }
    },
    async list() {
      const statuses = [...known].map(async (name) => [name, { status: await statusOf(name) }] as const);
      return { statuses: Object.fromEntries(await Promise.all(statuses)) };
    },
  });
}
