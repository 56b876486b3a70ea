import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Logger } from 'pino';
import type { Database } from '../../platform/database/database.ts';
import { type WriteBehind, writeBehind } from '../../platform/writes/write-behind.ts';
import type { AuthenticationRow } from './session.queries.ts';

/** Limits the writes to one a minute for each session in use, or a few per idle timeout if that is shorter. */
const PRECISION_MS = 60_000;
const WRITES_PER_IDLE_TIME = 10;

const WRITE_LAST_SEEN = `
with written as (
  update accounts.session as session set last_seen_at = seen.at
    from json_to_recordset(:rows::json) as seen (account_id uuid, id uuid, at timestamptz(3))
   where session.account_id = seen.account_id and session.id = seen.id and session.last_seen_at < seen.at
  returning session.token_sha256, session.last_seen_at
)
update platform.session as mirror set last_seen_at = written.last_seen_at
  from written where mirror.token_sha256 = written.token_sha256`;

/** Records when sessions were last seen, without delaying their requests. */
export class LastSeen {
  readonly #write: WriteBehind;
  readonly #precisionMs: number;

  constructor(database: Database, logger: Logger, idleMs: number) {
    const failure = 'could not write when sessions were last seen';
    this.#write = writeBehind(database, logger, WRITE_LAST_SEEN, failure);
    this.#precisionMs = Math.min(PRECISION_MS, idleMs / WRITES_PER_IDLE_TIME);
  }

  /** Records that a session was seen, unless that happened a moment ago. */
  record({ account_id, id, last_seen_at }: AuthenticationRow, now: Date): void {
    if (now.getTime() - timestampMs(last_seen_at) < this.#precisionMs) return;
    this.#write(id, { account_id, id, at: now });
  }
}
