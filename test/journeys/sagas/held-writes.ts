import type { Client } from 'pg';
import { expect } from 'vitest';
import type { TestHarness } from '../../support/harness.ts';
import { openSession, sqlOf } from '../../support/sql.ts';
import { eventually } from './saga.ts';

/**
 * Writes of the worker that wait at their last statement, before their commit: for an advisory lock of the merchant, which
 * a trigger takes.
 */
const TRIGGER = `
create table public.held_write (merchant_id uuid primary key, rpc text not null);
create function public.hold_write() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(h.merchant_id::text, 1))
     from public.held_write h
    where h.merchant_id = new.merchant_id and new.caller = 'worker' and new.method like '%.' || h.rpc;
  return new;
end $$;
create trigger hold_write before insert on platform.idempotency_record
   for each row execute function public.hold_write()`;

const HOLD = `
with held as (insert into public.held_write (merchant_id, rpc) values ($1, $2))
select pg_advisory_lock(hashtextextended($1::text, 1))`;

const WAITS = `
select from pg_locks
 where locktype = 'advisory' and not granted
   and database = (select oid from pg_database where datname = current_database())
   and (classid::bigint << 32) | objid::bigint = hashtextextended($1::text, 1)`;

/** Holds writes within their transactions, for less than the 15 seconds that they wait for a lock. */
export class HeldWrites implements AsyncDisposable {
  readonly #harness: TestHarness;
  readonly #client: Client;
  #locked: Promise<unknown> = Promise.resolve();

  private constructor(harness: TestHarness, client: Client) {
    this.#harness = harness;
    this.#client = client;
  }

  static async open(harness: TestHarness): Promise<HeldWrites> {
    const client = await openSession(harness.databaseUrl);
    await client.query(TRIGGER);
    return new HeldWrites(harness, client);
  }

  /** Holds the merchant's next write by this RPC. */
  async hold(merchantId: string, rpc: string): Promise<void> {
    this.#locked = this.#locked.then(() => this.#client.query(HOLD, [merchantId, rpc]));
    await this.#locked;
  }

  /** Resolves once the merchant's write waits. */
  waitUntilHeld = (merchantId: string) =>
    eventually(async () => expect(await sqlOf(this.#harness, WAITS, [merchantId])).toHaveLength(1));

  async releaseAll(): Promise<void> {
    await this.#client.query('select pg_advisory_unlock_all()');
  }

  [Symbol.asyncDispose] = () => this.#client.end();
}
