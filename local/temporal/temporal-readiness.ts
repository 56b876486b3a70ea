import type { DatabaseState } from '../../services/platform/database/database.ts';
import type { Readiness } from '../../services/platform/process/ops-server.ts';
import type { TemporalStatus } from './temporal-server.ts';

/** The body of `npm start`'s /readyz while its database answers. */
export interface LocalReadiness {
  readonly database: DatabaseState;
  /** `up` once the worker is connected. */
  readonly temporal: 'up' | 'unavailable: workflows wait';
  /** The server that `npm start` finds, builds or waits for. `since`: ISO 8601. */
  readonly temporalServer: Omit<TemporalStatus, 'since'> & { readonly since: string };
}

/** Ready whatever the state of Temporal: the API answers without it. */
export function temporalReadiness(
  database: DatabaseState,
  isWorkerConnected: boolean,
  status: TemporalStatus,
): Readiness {
  const details: LocalReadiness = {
    database,
    temporal: isWorkerConnected ? 'up' : 'unavailable: workflows wait',
    temporalServer: { ...status, since: status.since.toISOString() },
  };
  return { ok: true, details: { ...details } };
}
