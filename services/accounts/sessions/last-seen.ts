import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Logger } from 'pino';
import type { Database } from '../../platform/database/database.ts';
import { WriteBehind } from '../../platform/writes/write-behind.ts';
import type { ShownSessionRow } from './session.queries.ts';

/** A session in use costs a write a minute, not one a request; sessions that idle out sooner, a few writes. */
const PRECISION_MS = 60_000;
const WRITES_PER_IDLE_TIME = 10;

const WRITE_LAST_SEEN = `
update accounts.session as session set last_seen_at = seen.at
from json_to_recordset(:rows::json) as seen (account_id uuid, id uuid, at timestamptz(3))
where session.account_id = seen.account_id and session.id = seen.id and session.last_seen_at < seen.at`;

/** Writes down when sessions were last seen, after their requests. */
export class LastSeen {
  readonly #writes: WriteBehind;
  readonly #precisionMs: number;

  constructor(database: Database, logger: Logger, idleMs: number) {
    const failure = 'when sessions were last seen was not written';
    this.#writes = new WriteBehind(database, logger, WRITE_LAST_SEEN, failure);
    this.#precisionMs = Math.min(PRECISION_MS, idleMs / WRITES_PER_IDLE_TIME);
  }

  /** Takes note that a session is in use, unless it was seen a moment ago. */
  note({ account_id, id, last_seen_at }: ShownSessionRow, now: Date): void {
    if (now.getTime() - timestampMs(last_seen_at) < this.#precisionMs) return;
    this.#writes.add(id, { account_id, id, at: now });
  }
}
