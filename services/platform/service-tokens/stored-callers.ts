import { setTimeout as delay } from 'node:timers/promises';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { unavailable } from '../errors.ts';
import type { Caller } from '../rpc/call-context.ts';
import { type FindCaller, invalidToken } from '../rpc/identify-callers.ts';
import { selectActiveTokens } from './service-token.queries.ts';

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
 * Finds the callers whose tokens are in the database. All active tokens are read together, at most once a second, and only
 * when a call shows a token that is not in the settings. UNAVAILABLE (DATABASE_UNAVAILABLE) when the tokens cannot be read
 * within four seconds: a token that may have been revoked is not accepted.
 */
export function storedCallers(database: Database, logger: Logger): FindCaller {
  let latest: Snapshot | undefined;
  let pending: { readonly startedAt: number; readonly snapshot: Promise<Snapshot> } | undefined;

  const find: FindCaller = async (tokenSha256) =>
    activeIn(await snapshot(FRESH_MS), tokenSha256) ?? activeIn(await snapshot(RECHECK_MS), tokenSha256);

  async function snapshot(maxAgeMs: number): Promise<Snapshot> {
    const oldest = performance.now() - maxAgeMs;
    if (latest && latest.startedAt > oldest) return latest;
    if (!pending || pending.startedAt <= oldest) {
      const startedAt = performance.now();
      pending = { startedAt, snapshot: read(startedAt) };
    }
    return pending.snapshot;
  }

  async function read(startedAt: number): Promise<Snapshot> {
    const rows = await Promise.race([
      database.read(selectActiveTokens({})),
      delay(FRESH_MS, undefined, { ref: false }),
    ]).catch((error: unknown) => {
      logger.warn({ err: error }, 'service tokens could not be read');
      // Lets the next call try again. Calls share a read that hangs, so that few connections hang.
      if (pending?.startedAt === startedAt) pending = undefined;
    });
    if (!rows || performance.now() - startedAt >= FRESH_MS)
      throw unavailable('DATABASE_UNAVAILABLE', 'service tokens cannot be read; try again');
    const callers = new Map<string, StoredCaller>();
    for (const row of rows) {
      const sha256 = row.token_sha256_hex;
      const requireValid = async () => {
        if (!(await find(sha256))) throw invalidToken();
      };
      const caller = { name: row.name, grants: new Set(row.grants), requireValid };
      callers.set(sha256, { caller, expiryMs: row.expires_at ? timestampMs(row.expires_at) : Infinity });
    }
    const found = { startedAt, callers };
    if (!latest || latest.startedAt < startedAt) latest = found;
    return found;
  }

  return find;
}

function activeIn({ callers }: Snapshot, tokenSha256: string): Caller | undefined {
  const found = callers.get(tokenSha256);
  return found && found.expiryMs > Date.now() ? found.caller : undefined;
}
