import type { KeyObject } from 'node:crypto';
import type { Logger } from 'pino';
import type { Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { KeyRing } from '../../platform/key-ring.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import { signingKey } from '../attempts/send-attempt.ts';
import { openSecret } from '../subscriptions/signing-secret.ts';
import type { SubscriptionState } from '../subscriptions/subscription.ts';
import { parseSnapshot, type Snapshot } from './delivery-reader.ts';

interface SubscriptionRow {
  readonly id: string;
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly lane: number;
  readonly url: string;
  readonly state: SubscriptionState;
  readonly generation: bigint;
  readonly paused: boolean;
  readonly holding: boolean;
  /** In how long a held delivery is sent as a probe, by the database's clock; null while all may be sent. */
  readonly probeInMs: number | null;
  readonly maxConcurrentAttempts: number | null;
  readonly maxAttemptsPerSecond: number | null;
  readonly secrets: readonly {
    readonly keyId: number;
    /** In base64. */
    readonly sealed: string;
    /** In milliseconds since 1970; null for the current secret. */
    readonly expiresMs: number | null;
  }[];
}

/** A subscription as the owner of its lane knows it. */
export interface LaneSubscription extends Omit<SubscriptionRow, 'secrets' | 'probeInMs'> {
  /** When a held delivery is sent as a probe, by `performance.now()`; null while all may be sent. */
  readonly probeAtMs: number | null;
  /** The keys that sign now, the current one first; empty if no secret can be decrypted or the row cannot be read. */
  keysAt(nowMs: number): readonly KeyObject[];
}

const READ: Statement = {
  name: 'read_lane_subscriptions',
  text: `
select s.id, s.merchant_id as "merchantId", s.environment, s.lane, s.url, s.state, s.generation,
       s.paused_at is not null as paused, s.holding, extract(epoch from s.probe_at - now())::float8 * 1000 as "probeInMs",
       s.max_concurrent_attempts as "maxConcurrentAttempts", s.max_attempts_per_second as "maxAttemptsPerSecond", k.secrets
  from webhooks.subscription s
 cross join lateral (
   select coalesce(json_agg(json_build_object('keyId', key_id, 'sealed', encode(sealed, 'base64'),
                                              'expiresMs', extract(epoch from expires_at) * 1000)
                            order by expires_at desc nulls first), '[]') as secrets
     from webhooks.signing_secret
    where merchant_id = s.merchant_id and environment = s.environment and subscription_id = s.id
 ) k
 where s.id = any (:ids::uuid[])`,
};

const FIND_CHANGED: Statement = {
  name: 'find_changed_subscriptions',
  text: `
select now_visible.snapshot, changed.id, changed.holding
  from (select pg_current_snapshot()::text as snapshot) now_visible
  left join (
    select id, holding from webhooks.subscription
     where changed_xid >= :next::xid8 and changed_xid < pg_snapshot_xmax(pg_current_snapshot())
     union
    select id, holding from webhooks.subscription where changed_xid = any (:inProgress::xid8[])
  ) changed on true`,
};

interface ChangedRow {
  readonly snapshot: string;
  readonly id: string | null;
  readonly holding: boolean | null;
}

const MAX_KNOWN = 20_000;

/** The subscriptions of this process's lanes, as of their last committed change. */
export class SubscriptionCache {
  readonly #run: Run;
  readonly #keys: KeyRing;
  readonly #logger: Logger;
  readonly #known = new Map<string, LaneSubscription>();
  #seen: Snapshot;

  /** @param seen a snapshot from before the first subscription is loaded. */
  constructor({ run, keys, logger, seen }: { run: Run; keys: KeyRing; logger: Logger; seen: Snapshot }) {
    this.#run = run;
    this.#keys = keys;
    this.#logger = logger;
    this.#seen = seen;
  }

  get(id: string): LaneSubscription | undefined {
    return this.#known.get(id);
  }

  /** Loads the subscriptions of deliveries that are not known yet, or only as of an earlier generation. */
  async loadFor(
    deliveries: readonly { readonly subscription_id: string; readonly generation: bigint }[],
  ): Promise<void> {
    const isOld = (id: string, generation: bigint) => (this.#known.get(id)?.generation ?? -1n) < generation;
    const old = deliveries.filter(({ subscription_id: id, generation }) => isOld(id, generation));
    if (old.length > 0) await this.#read([...new Set(old.map(({ subscription_id }) => subscription_id))]);
  }

  /** The number of subscriptions that cannot be sent to, because no secret can be decrypted or the row cannot be read. */
  countUnusable(): number {
    return [...this.#known.values()].filter(hasNoSecret).length;
  }

  /**
   * Loads those of these subscriptions that are not known yet or cannot be sent to.
   * @returns the ids of those that can be sent to now.
   */
  async load(ids: readonly string[]): Promise<string[]> {
    const isUsable = (id: string) => this.#known.has(id) && !hasNoSecret(this.#known.get(id)!);
    const unusable = ids.filter((id) => !isUsable(id));
    if (unusable.length > 0) await this.#read(unusable);
    return unusable.filter(isUsable);
  }

  /** The subscriptions that hold deliveries back. */
  held(): LaneSubscription[] {
    return [...this.#known.values()].filter(({ holding }) => holding);
  }

  /** Forgets subscriptions that are not needed, once there are many. */
  trim(isNeeded: (id: string) => boolean): void {
    if (this.#known.size < MAX_KNOWN) return;
    for (const [id, { holding }] of this.#known) if (!holding && !isNeeded(id)) this.#known.delete(id);
  }

  /**
   * Reads the subscriptions that have changed since the last call, if they are known or hold deliveries back: nothing
   * announces held ones later. @returns their ids.
   */
  async refresh(): Promise<readonly string[]> {
    const rows = await this.#run<ChangedRow>(FIND_CHANGED, { ...this.#seen });
    this.#seen = parseSnapshot(rows[0]!.snapshot);
    const changed = rows.flatMap(({ id, holding }) =>
      id !== null && (holding || this.#known.has(id)) ? [id] : [],
    );
    if (changed.length > 0) await this.#read(changed);
    return changed;
  }

  async #read(ids: readonly string[]): Promise<void> {
    const rows = await this.#run<SubscriptionRow>(READ, { ids });
    for (const id of ids) this.#known.delete(id);
    for (const row of rows) this.#known.set(row.id, this.#subscriptionOf(row));
  }

  /** What is wrong with a subscription does not affect others: without a usable secret, nothing is sent to it. */
  #subscriptionOf({ secrets: sealedSecrets, probeInMs, ...row }: SubscriptionRow): LaneSubscription {
    const { id: subscriptionId, merchantId, environment } = row;
    const owner = { subscriptionId, merchantId, environment };
    const isValid = probeInMs === null || Number.isFinite(probeInMs);
    if (!isValid) this.#logger.error({ ...owner, probeInMs }, 'a subscription cannot be read');
    const keys = sealedSecrets.flatMap(({ keyId, sealed, expiresMs }) => {
      try {
        const secret = openSecret(this.#keys, owner, { keyId, sealed: Buffer.from(sealed, 'base64') });
        return isValid ? [{ key: signingKey(secret), untilMs: expiresMs ?? Number.POSITIVE_INFINITY }] : [];
      } catch (error) {
        this.#logger.error({ err: error, ...owner }, 'a signing secret cannot be opened');
        return [];
      }
    });
    return {
      ...row,
      probeAtMs: probeInMs === null ? null : performance.now() + probeInMs,
      keysAt: (nowMs) => keys.filter(({ untilMs }) => untilMs > nowMs).map(({ key }) => key),
    };
  }
}

/** Whether deliveries may be sent now, apart from its limits: it is enabled, not paused, and has a secret to sign with. */
export const maySend = ({ state, paused, keysAt }: LaneSubscription) =>
  state !== 'DISABLED' && !paused && keysAt(Date.now()).length > 0;

const hasNoSecret = ({ state, keysAt }: LaneSubscription) =>
  state !== 'DISABLED' && keysAt(Date.now()).length === 0;
