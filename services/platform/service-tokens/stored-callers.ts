import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { unavailable } from '../errors.ts';
import type { Caller } from '../rpc/call-context.ts';
import { type CallerDirectory, invalidToken } from '../rpc/identify-callers.ts';
import { expiryMsOf, selectActiveTokens } from './service-token.queries.ts';

interface StoredCaller {
  readonly caller: Caller;
  readonly expiryMs: number;
}

/** The active tokens of one read. */
interface Snapshot {
  readonly startedAt: number;
  /** By the SHA-256 of the token in hex. */
  readonly callers: ReadonlyMap<string, StoredCaller>;
}

/** A revocation takes effect within five seconds: a read is used for four, counted from its start. */
const FRESH_MS = 4_000;
/** An unknown token may have been issued since the last read. Guesses cause one read a second at most. */
const RECHECK_MS = 1_000;

/**
 * The callers whose tokens are in the database. All active tokens are read together, at most once a second, and only
 * when a call shows a token that is not in the settings.
 */
export class StoredCallers implements CallerDirectory {
  readonly #database: Database;
  readonly #logger: Logger;
  #latest: Snapshot | undefined;
  #pending: { readonly startedAt: number; readonly snapshot: Promise<Snapshot> } | undefined;

  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
  }

  /**
   * The caller of an active token by the SHA-256 of the token in hex; undefined for a token that is unknown, revoked or
   * expired. UNAVAILABLE (DATABASE_UNAVAILABLE) when the tokens cannot be read within four seconds: a token that may have
   * been revoked is not accepted.
   */
  async find(tokenSha256: string): Promise<Caller | undefined> {
    const found = activeIn(await this.#snapshot(FRESH_MS), tokenSha256);
    return found ?? activeIn(await this.#snapshot(RECHECK_MS), tokenSha256);
  }

  async #snapshot(maxAgeMs: number): Promise<Snapshot> {
    const oldest = performance.now() - maxAgeMs;
    if (this.#latest && this.#latest.startedAt > oldest) return this.#latest;
    if (!this.#pending || this.#pending.startedAt <= oldest) {
      const startedAt = performance.now();
      this.#pending = { startedAt, snapshot: this.#read(startedAt) };
    }
    return this.#pending.snapshot;
  }

  async #read(startedAt: number): Promise<Snapshot> {
    const rows = await Promise.race([
      this.#database.read(selectActiveTokens({})),
      delay(FRESH_MS, undefined, { ref: false }),
    ]).catch((error: unknown) => {
      this.#logger.warn({ err: error }, 'service tokens could not be read');
      // Lets the next call try again. Calls share a read that hangs, so that few connections hang.
      if (this.#pending?.startedAt === startedAt) this.#pending = undefined;
    });
    if (!rows || performance.now() - startedAt >= FRESH_MS) throw cannotRead();
    const callers = new Map<string, StoredCaller>();
    for (const row of rows) {
      const sha256 = row.token_sha256_hex;
      const requireValid = async () => {
        if (!(await this.find(sha256))) throw invalidToken();
      };
      const caller = { name: row.name, grants: new Set(row.grants), requireValid };
      callers.set(sha256, { caller, expiryMs: expiryMsOf(row) });
    }
    const snapshot = { startedAt, callers };
    if (!this.#latest || this.#latest.startedAt < startedAt) this.#latest = snapshot;
    return snapshot;
  }
}

function activeIn({ callers }: Snapshot, tokenSha256: string): Caller | undefined {
  const found = callers.get(tokenSha256);
  return found && found.expiryMs > Date.now() ? found.caller : undefined;
}

const cannotRead = () => unavailable('DATABASE_UNAVAILABLE', 'service tokens cannot be read; try again');
