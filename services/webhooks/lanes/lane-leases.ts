import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import { WakeableSleep } from './wakeable-sleep.ts';

/** A process that owns all lanes renews its lease this often; others take its lanes once the lease has expired. */
const RENEW_INTERVAL_MS = 1_000;
/** While others own lanes, so that those of a process that has died are taken soon after its lease has expired. */
const SHARED_RENEW_INTERVAL_MS = 400;
const LEASE_MS = 4_000;
const MIN_INTERVAL_MS = 200;
/** As in the check of webhooks.lane. */
export const LANE_COUNT = 64;
/** A lease that was confirmed longer ago does not count, because the clocks of processes and database may differ. */
const CONFIRMED_FOR_MS = 3_000;

interface LaneRow {
  readonly id: number;
  readonly epoch: bigint;
  readonly owner_id: string | null;
  /** Whether its owner has a lease. */
  readonly owned: boolean;
  /** The processes with a lease, this one included: the same in every row. */
  readonly owners: readonly string[];
}

const RENEW: Statement = {
  name: 'renew_lanes',
  text: `
with renewed as (
  insert into webhooks.lane_owner as o (id, leased_until) values (:ownerId, now() + interval '${LEASE_MS} ms')
  on conflict (id) do update set leased_until = excluded.leased_until
), live as materialized (
  select id from webhooks.lane_owner where leased_until > now() and id <> :ownerId
   union all select :ownerId::uuid
)
select id, epoch, owner_id, owner_id in (select id from live) as owned,
       array(select id::text from live order by id) as owners
  from webhooks.lane`,
};

/**
 * Takes only lanes that no other process has taken since they were read, and whose owner has not renewed its lease. Skips those
 * that a paused owner still has locked, because this process could not renew its own lease while it waits.
 */
const TAKE: Statement = {
  name: 'take_lanes',
  text: `
update webhooks.lane l set owner_id = :ownerId, epoch = l.epoch + 1
  from (
    select l.id from webhooks.lane l
      join unnest(:ids::smallint[], :epochs::bigint[]) as free (id, epoch) on l.id = free.id and l.epoch = free.epoch
     order by l.id for update of l skip locked
  ) free
 where l.id = free.id
   and not exists (select from webhooks.lane_owner o where o.id = l.owner_id and o.leased_until > now())
returning l.id, l.epoch`,
};

const RELEASE: Statement = {
  name: 'release_lanes',
  text: `update webhooks.lane set owner_id = null where id = any (:ids::smallint[]) and owner_id = :ownerId`,
};

const LEAVE: Statement = {
  name: 'leave_lanes',
  text: `
with left_by as (delete from webhooks.lane_owner where id = :ownerId)
update webhooks.lane set owner_id = null where owner_id = :ownerId`,
};

export interface LaneLeasesOptions {
  readonly db: Pick<CrossTenantDatabase, 'run'>;
  readonly logger: Logger;
  /** Lanes that this process now owns. */
  onTaken(lanes: readonly number[]): void;
  /** Lanes were taken by another process. */
  onLost(): void;
  /**
   * Called before lanes are handed to another process, to record the attempts in flight; attempts that are not recorded
   * are made again. The lease is not renewed meanwhile.
   */
  beforeRelease(lanes: readonly number[]): Promise<void>;
  /** Called after lanes became free for another process. */
  onReleased(): void;
}

/**
 * The lanes that this process owns. All processes share the lanes evenly; each knows the others by their leases, which
 * count by the database's clock.
 */
export class LaneLeases {
  /** Identifies this process. */
  readonly ownerId: string = uuidv7();
  readonly #options: LaneLeasesOptions;
  readonly #epochs = new Map<number, bigint>();
  readonly #sleep = new WakeableSleep();
  #isStopping = false;
  /** When the last renewal began, and the last that was confirmed, by `performance.now()`. */
  #renewedAtMs = Number.NEGATIVE_INFINITY;
  #confirmedAtMs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;

  constructor(options: LaneLeasesOptions) {
    this.#options = options;
  }

  /** The lanes owned, whether or not the lease is confirmed. */
  get lanes(): number[] {
    return [...this.#epochs.keys()];
  }

  /** The epoch in which this process took the lane; undefined if it does not own it. */
  epochOf(lane: number): bigint | undefined {
    return this.#epochs.get(lane);
  }

  /** Whether no other process can own the lanes now, and this one is not about to hand them over, so attempts may begin. */
  get isConfirmed(): boolean {
    return !this.#isStopping && performance.now() - this.#confirmedAtMs < CONFIRMED_FOR_MS;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Looks for lanes to take before the next renewal, unless this process owns all of them. */
  wake(): void {
    if (this.#epochs.size < LANE_COUNT && performance.now() - this.#renewedAtMs > MIN_INTERVAL_MS)
      this.#sleep.wake();
  }

  /** Stops taking lanes, and hands over its own. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#sleep.wake();
    await this.#running;
    const { lanes } = this;
    this.#epochs.clear();
    await this.#options.beforeRelease(lanes);
    await this.#options.db
      .run(LEAVE, { ownerId: this.ownerId })
      .then(() => this.#options.onReleased())
      .catch((error: unknown) => this.#options.logger.warn({ err: error }, 'could not hand lanes over'));
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#isStopping) {
      try {
        await this.#renew();
        failures = 0;
      } catch (error) {
        if (failures === 0) this.#options.logger.warn({ err: error }, 'the lease of lanes was not renewed');
        failures += 1;
      }
      const ownsAll = this.#epochs.size === LANE_COUNT;
      const intervalMs = ownsAll ? RENEW_INTERVAL_MS : SHARED_RENEW_INTERVAL_MS;
      await this.#sleep.sleep(intervalMs);
    }
  }

  async #renew(): Promise<void> {
    this.#renewedAtMs = performance.now();
    const lanes = await this.#options.db.run<LaneRow>(RENEW, { ownerId: this.ownerId });
    this.#confirmedAtMs = this.#renewedAtMs;
    this.#dropLost(lanes);
    await this.#releaseUnknown(lanes);
    await this.#balance(lanes, lanes[0]!.owners);
  }

  /**
   * Releases lanes that this process owns in the table only, because it lost the connection while it took or released
   * them. While it renews its lease, no other process takes them.
   */
  async #releaseUnknown(lanes: readonly LaneRow[]): Promise<void> {
    const unknown = lanes.filter(({ id, owner_id }) => owner_id === this.ownerId && !this.#epochs.has(id));
    if (unknown.length === 0) return;
    this.#options.logger.warn({ lanes: unknown.length }, 'releasing lanes owned in the table only');
    await this.#release(unknown.map(({ id }) => id));
  }

  #dropLost(lanes: readonly LaneRow[]): void {
    const isMine = ({ id, owner_id, epoch }: LaneRow) =>
      owner_id === this.ownerId && this.#epochs.get(id) === epoch;
    const lost = lanes.filter((lane) => this.#epochs.has(lane.id) && !isMine(lane)).map(({ id }) => id);
    if (lost.length === 0) return;
    for (const id of lost) this.#epochs.delete(id);
    this.#options.logger.warn({ lanes: lost.length }, 'lanes were taken by another process');
    this.#options.onLost();
  }

  async #balance(lanes: readonly LaneRow[], owners: readonly string[]): Promise<void> {
    const rank = owners.indexOf(this.ownerId);
    const share = Math.floor(lanes.length / owners.length) + (rank < lanes.length % owners.length ? 1 : 0);
    const surplus = this.lanes.slice(share);
    if (surplus.length > 0) return this.#release(surplus);
    const free = lanes.filter(({ owned }) => !owned).slice(0, share - this.#epochs.size);
    if (free.length > 0) await this.#take(free);
  }

  async #take(free: readonly LaneRow[]): Promise<void> {
    const taken = await this.#options.db.run<Pick<LaneRow, 'id' | 'epoch'>>(TAKE, {
      ownerId: this.ownerId,
      ids: free.map(({ id }) => id),
      epochs: free.map(({ epoch }) => epoch),
    });
    for (const { id, epoch } of taken) this.#epochs.set(id, epoch);
    if (taken.length > 0) this.#options.onTaken(taken.map(({ id }) => id));
  }

  async #release(lanes: readonly number[]): Promise<void> {
    // From here on none of their deliveries is sent.
    for (const id of lanes) this.#epochs.delete(id);
    await this.#options.beforeRelease(lanes);
    await this.#options.db.run(RELEASE, { ids: lanes, ownerId: this.ownerId });
    this.#options.onReleased();
  }
}
