import { setTimeout as delay, setImmediate as untilNextTurn } from 'node:timers/promises';
import type { Pool, PoolConfig } from 'pg';
import type { Logger } from 'pino';
import { Counter, Gauge } from 'prom-client';
import { metrics } from '../process/telemetry.ts';
import { isConnectionLost } from './database-errors.ts';
import type { ReadStatement } from './read-pool.ts';
import { identityOf, Replica, type WalPosition } from './replica.ts';

const CHECK_INTERVAL_MS = 1_000;

const POSITION = `
  select (lsn - '0/0')::text as lsn, left(pg_walfile_name(lsn), 8) as timeline
    from pg_current_wal_flush_lsn() as lsn`;

/** The replicas of this process, for its metrics. */
const open = new Set<Replica>();

const listReads = new Counter({
  name: 'payments_database_list_reads_total',
  help: 'Reads of lists, where read replicas are configured: from a replica, or from the primary because no replica was in use (unused), or the replica was behind or failed.',
  labelNames: ['outcome'],
  registers: [metrics],
});
new Gauge({
  name: 'payments_database_replica_used',
  help: 'Whether lists are read from a replica: 1, or 0 while it cannot be reached or is too far behind.',
  labelNames: ['replica'],
  registers: [metrics],
  collect() {
    this.reset();
    for (const { name, isUsed } of open) this.set({ replica: name }, isUsed ? 1 : 0);
  },
});
const lag = new Gauge({
  name: 'payments_database_replica_lag_bytes',
  help: 'WAL of the primary that a replica has not replayed.',
  labelNames: ['replica'],
  registers: [metrics],
});

export interface ReplicaOptions {
  /** Each names one server, not several behind a load balancer. */
  readonly urls: readonly string[];
  /** How long a read waits for a replica to catch up before the primary answers it. */
  readonly maxLagMs: number;
  readonly logger: Logger;
}

/**
 * Replicas that take reads off the primary without showing stale data: a read first asks the primary for its WAL
 * position, and a replica answers once it has replayed up to there. So a read shows every earlier write, whichever
 * process made it. Replicas that are down or behind are left out, and checked every second.
 */
export class ReadReplicas {
  readonly #replicas: readonly Replica[];
  readonly #primary: Pool;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  readonly #reported = new Set<Replica>();
  #nextIndex = 0;
  #position: Promise<WalPosition> | undefined;

  /** @param pool the options of each replica's pool. */
  constructor({ urls, maxLagMs, logger }: ReplicaOptions, primary: Pool, pool: PoolConfig) {
    this.#primary = primary;
    this.#logger = logger;
    this.#replicas = urls.map((url) => new Replica(url, pool, maxLagMs));
    for (const replica of this.#replicas) {
      open.add(replica);
      this.#watch(replica);
    }
  }

  /** The rows of a prepared statement, from a replica; undefined if the primary has to answer. */
  async read<Row>(statement: ReadStatement): Promise<Row[] | undefined> {
    const replica = this.#next();
    if (!replica) {
      listReads.inc({ outcome: 'unused' });
      return undefined;
    }
    try {
      const isShown = await replica.shows(await this.#primaryPosition());
      const rows = isShown ? await replica.read<Row>(statement) : undefined;
      listReads.inc({ outcome: rows ? 'replica' : 'behind' });
      return rows;
    } catch (error) {
      // A statement that conflicts with recovery is canceled; the next one need not be.
      if (isConnectionLost(error)) replica.dismiss();
      listReads.inc({ outcome: 'failed' });
      return undefined;
    }
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    for (const replica of this.#replicas) {
      open.delete(replica);
      lag.remove({ replica: replica.name });
    }
    await Promise.all(this.#replicas.map((replica) => replica.close()));
  }

  #next(): Replica | undefined {
    const candidates = this.#replicas.filter(({ isUsed }) => isUsed);
    this.#nextIndex += 1;
    return candidates[this.#nextIndex % candidates.length];
  }

  /** Reads in one turn of the event loop share one query, which is sent once all of them have arrived. */
  #primaryPosition(): Promise<WalPosition> {
    this.#position ??= untilNextTurn().then(async () => {
      this.#position = undefined;
      const { rows } = await this.#primary.query<{ lsn: string; timeline: string }>(POSITION);
      const { lsn, timeline } = rows[0]!;
      return { lsn: BigInt(lsn), timeline: Number.parseInt(timeline, 16) };
    });
    return this.#position;
  }

  async #watch(replica: Replica): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#check(replica);
      await delay(CHECK_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #check(replica: Replica): Promise<void> {
    const { name } = replica;
    const primary = await Promise.all([this.#primaryPosition(), identityOf(this.#primary)]).catch(
      () => undefined,
    );
    // A replica can only be judged by comparison with the primary.
    if (!primary) return;
    const [position, identity] = primary;
    try {
      if (replica.isUsed) await replica.shows(position);
      else await replica.admit(identity, position);
      if (this.#stopping.signal.aborted) return;
      const behind = position.lsn - replica.replayed;
      lag.set({ replica: name }, Number(behind > 0n ? behind : 0n));
      if (this.#reported.delete(replica)) this.#logger.info({ replica: name }, 'the read replica is back');
    } catch (error) {
      replica.dismiss();
      if (this.#stopping.signal.aborted || this.#reported.has(replica)) return;
      this.#reported.add(replica);
      this.#logger.warn({ replica: name, reason: String(error) }, 'the read replica cannot be used');
    }
  }
}
