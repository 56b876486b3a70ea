import type { Logger } from 'pino';
import type { CrossTenantDatabase } from '../../platform/database/cross-tenant-database.ts';
import type { WorkSignal } from '../../platform/outbox/work-signal.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { restartResends } from '../resends/restart-resends.ts';
import type { AttemptRecorder } from './attempt-recorder.ts';
import { DeliveryClaims } from './claim-deliveries.ts';
import type { BatchIds, ClaimedDelivery } from './claimed-delivery.ts';
import { handOutBatchesAgain, handOutRetriesAgain, type RetryRow } from './hand-out-again.ts';
import { releaseHeld } from './release-held.ts';
import { unblockStuck } from './unblock-deliveries.ts';

/** What a worker is to do. */
export interface ClaimedWork {
  readonly deliveries: readonly ClaimedDelivery[];
  readonly retries: readonly RetryRow[];
}

export interface ClaimRequest {
  /** Who asks; what is claimed is leased to it. */
  readonly caller: string;
  readonly waitMs: number;
  readonly maxDeliveries: number;
  /** Of batches to claim into; into new ones without them. */
  readonly batchIds: BatchIds | undefined;
  readonly requestId: string;
  /** Aborted when the caller has given up. */
  readonly signal: AbortSignal;
}

interface Dependencies {
  readonly db: CrossTenantDatabase;
  readonly recorder: AttemptRecorder;
  readonly writes: Writes;
  readonly workSignal: WorkSignal;
  readonly logger: Logger;
  /** Before the first attempt of a delivery, in milliseconds. */
  readonly firstWaits: { readonly live: number; readonly test: number };
}

const POLL_MS = 1_000;
/** While deliveries wait only for others of their subscription to end, which sends no signal. */
const BLOCKED_POLL_MS = 50;
const UPKEEP_INTERVAL_MS = 1_000;
const STUCK_INTERVAL_MS = 60_000;
const NOTHING: ClaimedWork = { deliveries: [], retries: [] };

/** Claims work for workers; one for each process. */
export class WorkClaims {
  readonly #deps: Dependencies;
  readonly #claims = new DeliveryClaims();
  #upkeepAt = 0;
  #unblockStuckAt = 0;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** Claims what there is, or waits for it: answers empty when the time is up. */
  async claim(request: ClaimRequest): Promise<ClaimedWork> {
    const found = await this.#deps.workSignal.await({ ...request, work: 'EVENTS' }, async () => {
      const { pollMs, ...work } = await this.#look(request);
      return { pollMs, found: hasAny(work) ? work : undefined };
    });
    return found ?? NOTHING;
  }

  async #look(request: ClaimRequest): Promise<ClaimedWork & { readonly pollMs: number }> {
    const again = await this.#upkeep(request);
    // Leased by now: nothing that fails may keep it from being answered.
    if (hasAny(again)) return { ...again, pollMs: 0 };
    const { caller, maxDeliveries, batchIds } = request;
    const { db, firstWaits } = this.#deps;
    const { deliveries, blocked, cut } = await this.#claims.claim(db, {
      caller,
      max: maxDeliveries,
      batchIds,
      firstWaits,
    });
    return { deliveries, retries: [], pollMs: cut ? 0 : blocked ? BLOCKED_POLL_MS : POLL_MS };
  }

  /** About once a second: what was lost on the way, and what was held and is due. A step that fails stops no other. */
  async #upkeep({ caller, requestId }: ClaimRequest): Promise<ClaimedWork> {
    if (performance.now() < this.#upkeepAt) return NOTHING;
    this.#upkeepAt = performance.now() + UPKEEP_INTERVAL_MS;
    const { db, recorder, writes } = this.#deps;
    await this.#step(() => recorder.closeLost(null, requestId));
    await this.#step(() => releaseHeld(db.run));
    await this.#step(() => this.#unblockStuck());
    await this.#step(() => restartResends({ db, writes }));
    const deliveries = await this.#step(() => db.transaction((run) => handOutBatchesAgain(run, caller)));
    const retries = await this.#step(() => handOutRetriesAgain(db.run, caller));
    return { deliveries: deliveries ?? [], retries: retries ?? [] };
  }

  async #step<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#deps.logger.warn({ err: error }, 'upkeep of deliveries failed, it is tried again');
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
