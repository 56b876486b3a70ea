import type { Logger } from 'pino';
import type { CrossTenantDatabase } from '../../platform/database/cross-tenant-database.ts';
import type { WorkSignal } from '../../platform/outbox/work-signal.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { restartResends } from '../resends/restart-resends.ts';
import type { AttemptRecorder } from './attempt-recorder.ts';
import { DeliveryClaims } from './claim-deliveries.ts';
import type { BatchIds, ClaimedDelivery } from './claimed-delivery.ts';
import { releaseHeld } from './release-held.ts';
import { type RetryRow, requeueExpiredBatches, requeueOverdueRetries } from './requeue-expired.ts';
import { unblockStuck } from './unblock-deliveries.ts';

/** Work for a worker. */
export interface ClaimedWork {
  readonly deliveries: readonly ClaimedDelivery[];
  readonly retries: readonly RetryRow[];
}

export interface ClaimRequest {
  /** The caller that claimed work is leased to. */
  readonly caller: string;
  readonly waitMs: number;
  readonly maxDeliveries: number;
  /** The batches to claim into; default: new ones. */
  readonly batchIds: BatchIds | undefined;
  readonly requestId: string;
  /** Aborted when the caller stops waiting. */
  readonly signal: AbortSignal;
}

interface Dependencies {
  readonly db: CrossTenantDatabase;
  readonly recorder: AttemptRecorder;
  readonly writes: Writes;
  readonly workSignal: WorkSignal;
  readonly logger: Logger;
  /** The wait before the first attempt of a delivery, in milliseconds. */
  readonly firstWaits: { readonly live: number; readonly test: number };
}

const POLL_MS = 1_000;
/** While deliveries wait only for others of their subscription to end, which no signal announces. */
const BLOCKED_POLL_MS = 50;
const UPKEEP_INTERVAL_MS = 1_000;
const STUCK_INTERVAL_MS = 60_000;
const NOTHING: ClaimedWork = { deliveries: [], retries: [] };

/** Claims work for workers; one instance per process. */
export class WorkClaims {
  readonly #deps: Dependencies;
  readonly #claims = new DeliveryClaims();
  #upkeepAt = 0;
  #unblockStuckAt = 0;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** Claims work, waiting for it if there is none; empty when the time is up. */
  async claim(request: ClaimRequest): Promise<ClaimedWork> {
    const found = await this.#deps.workSignal.await({ ...request, work: 'EVENTS' }, async () => {
      const { pollMs, ...work } = await this.#poll(request);
      return { pollMs, found: hasAny(work) ? work : undefined };
    });
    return found ?? NOTHING;
  }

  async #poll(request: ClaimRequest): Promise<ClaimedWork & { readonly pollMs: number }> {
    const requeued = await this.#upkeep(request);
    // It is leased: return it before anything can fail.
    if (hasAny(requeued)) return { ...requeued, pollMs: 0 };
    const { caller, maxDeliveries, batchIds } = request;
    const { db, firstWaits } = this.#deps;
    const { deliveries, blocked, incomplete } = await this.#claims.claim(db, {
      caller,
      max: maxDeliveries,
      batchIds,
      firstWaits,
    });
    if (incomplete) return { deliveries, retries: [], pollMs: 0 };
    return { deliveries, retries: [], pollMs: blocked ? BLOCKED_POLL_MS : POLL_MS };
  }

  /** About once a second: requeues lost work and releases held deliveries that are due. Each step may fail alone. */
  async #upkeep({ caller, requestId }: ClaimRequest): Promise<ClaimedWork> {
    if (performance.now() < this.#upkeepAt) return NOTHING;
    this.#upkeepAt = performance.now() + UPKEEP_INTERVAL_MS;
    const { db, recorder, writes } = this.#deps;
    await this.#step(() => recorder.closeLost(null, requestId));
    await this.#step(() => releaseHeld(db.run));
    await this.#step(() => this.#unblockStuck());
    await this.#step(() => restartResends({ db, writes }));
    const deliveries = await this.#step(() => db.transaction((run) => requeueExpiredBatches(run, caller)));
    const retries = await this.#step(() => requeueOverdueRetries(db.run, caller));
    return { deliveries: deliveries ?? [], retries: retries ?? [] };
  }

  async #step<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#deps.logger.warn({ err: error }, 'upkeep of deliveries failed; it will be retried');
      return undefined;
    }
  }

  async #unblockStuck(): Promise<void> {
    if (performance.now() < this.#unblockStuckAt) return;
    this.#unblockStuckAt = performance.now() + STUCK_INTERVAL_MS;
    await unblockStuck(this.#deps.db);
  }
}

const hasAny = ({ deliveries, retries }: ClaimedWork) => deliveries.length + retries.length > 0;
