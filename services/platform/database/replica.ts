import { setTimeout as delay } from 'node:timers/promises';
import { Client, Pool, type PoolClient, type PoolConfig } from 'pg';
import { withOptions } from './connection-settings.ts';
import { watchPool } from './pool-metrics.ts';
import { ReadPool, type ReadStatement } from './read-pool.ts';

/** How far a primary has flushed its WAL, and its timeline. Every failover begins a new timeline. */
export interface WalPosition {
  readonly lsn: bigint;
  readonly timeline: number;
}

const POLL_MS = 2;
/** A server that does not report its position within this time counts as lost. */
const POSITION_MS = 1_000;

const IDENTITY = `
  select system_identifier::text as system, timeline_id as timeline, pg_is_in_recovery() as "isStandby"
    from pg_control_system(), pg_control_checkpoint()`;

interface Identity {
  readonly system: string;
  /** The timeline of the last checkpoint. A standby has replayed it, so it cannot have left this timeline. */
  readonly timeline: number;
  readonly isStandby: boolean;
}

export async function identityOf(pool: Pool): Promise<Identity> {
  const { rows } = await pool.query<Identity>(IDENTITY);
  return rows[0]!;
}

/** A streaming replica of a primary. In use from `admit` until it falls behind or is dismissed. */
export class Replica {
  /** Host or folder of the socket, and port, for logs and metrics. */
  readonly name: string;
  readonly #pool: Pool;
  readonly #readPool: ReadPool;
  readonly #maxLagMs: number;
  /** The timeline of the primary that it follows; undefined while it is not in use. */
  #timeline: number | undefined;
  #replayed = 0n;
  #updating: Promise<void> | undefined;

  /** @param maxLagMs how long a read waits for the replica to catch up. */
  constructor(url: string, pool: PoolConfig, maxLagMs: number) {
    this.name = placeOf(url);
    this.#pool = new Pool({
      ...pool,
      connectionString: withOptions(url, pool.options ?? ''),
      pipeline: true,
      verify: (client, done) => void this.#verify(client).then(() => done(), done),
    });
    this.#readPool = new ReadPool(this.#pool);
    this.#maxLagMs = maxLagMs;
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
    watchPool(this.#pool, 'replica');
  }

  get isUsed(): boolean {
    return this.#timeline !== undefined;
  }

  /** How far it had replayed the primary's WAL when it was last asked. */
  get replayed(): bigint {
    return this.#replayed;
  }

  dismiss(): void {
    this.#timeline = undefined;
  }

  /**
   * Starts to use it if it has caught up with its primary. Throws if it is not a standby of this primary, or has not
   * followed its last failover yet, because it could hold transactions that the failover has lost.
   */
  async admit(primary: Identity, { lsn, timeline }: WalPosition): Promise<void> {
    // It may have been set back since it was last in use.
    this.#replayed = 0n;
    const { isStandby, ...own } = await identityOf(this.#pool);
    if (!isStandby) throw new Error('the server is not a standby');
    if (own.system !== primary.system) throw new Error('the server is a standby of another primary');
    if (own.timeline !== timeline)
      throw new Error('the server has not followed a failover of the primary yet');
    if (await this.#catchUp(lsn)) this.#timeline = timeline;
  }

  /**
   * Whether it shows what the primary had committed at a position, within the maximum lag; otherwise it is dismissed.
   */
  async shows({ lsn, timeline }: WalPosition): Promise<boolean> {
    if (timeline === this.#timeline && (await this.#catchUp(lsn))) return true;
    this.dismiss();
    return false;
  }

  read<Row>(statement: ReadStatement): Promise<Row[]> {
    return this.#readPool.read(statement);
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  async #catchUp(lsn: bigint): Promise<boolean> {
    const giveUpAt = performance.now() + this.#maxLagMs;
    while (this.#replayed < lsn) {
      await this.#update();
      if (this.#replayed >= lsn) break;
      if (performance.now() >= giveUpAt) return false;
      await delay(POLL_MS);
    }
    return true;
  }

  /** Reads that wait at the same time share one query. */
  #update(): Promise<void> {
    this.#updating ??= positionOf(this.#pool)
      .then((lsn) => {
        this.#replayed = lsn;
      })
      .finally(() => {
        this.#updating = undefined;
      });
    return this.#updating;
  }

  /** A server that has restarted, or was restored from a backup, may show less than the one it replaces. */
  async #verify(client: PoolClient): Promise<void> {
    if (this.#replayed === 0n || (await positionOf(client)) >= this.#replayed) return;
    this.dismiss();
    throw new Error('the server shows less than before');
  }
}

/** Where a URL leads: its parameters override its host. */
function placeOf(url: string): string {
  const { host, port } = new Client({ connectionString: url });
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** How far a server has replayed the primary's WAL; 0 for one that is not a standby. */
async function positionOf(server: Pool | PoolClient): Promise<bigint> {
  const text = `select (pg_last_wal_replay_lsn() - '0/0')::text as lsn`;
  const statement = { text, query_timeout: POSITION_MS };
  const { rows } = await server.query<{ lsn: string | null }>(statement);
  return BigInt(rows[0]!.lsn ?? 0);
}
