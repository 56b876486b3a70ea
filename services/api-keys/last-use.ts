import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Logger } from 'pino';
import type { Database } from '../platform/database/database.ts';
import { WriteBehind } from '../platform/writes/write-behind.ts';
import type { ShownKeyRow } from './api-key.queries.ts';

/** The last use is kept to the minute: a busy key costs a write a minute, not one a request. */
const PRECISION_MS = 60_000;

const WRITE_LAST_USES = `
update api_keys.api_key as api_key set last_used_at = used.at
from json_to_recordset(?::json) as used (merchant_id uuid, environment text, id uuid, at timestamptz(3))
where api_key.merchant_id = used.merchant_id and api_key.environment = used.environment and api_key.id = used.id
  and (api_key.last_used_at is null or api_key.last_used_at < used.at)`;

/** Writes down when keys were last used, after their requests. */
export class LastUse {
  readonly #writes: WriteBehind;

  constructor(database: Database, logger: Logger) {
    const failure = 'last uses of API keys were not written';
    this.#writes = new WriteBehind(database, logger, WRITE_LAST_USES, failure);
  }

  /** Takes note of a use, unless the key was used a moment ago. */
  note(key: ShownKeyRow, now: Date): void {
    const { merchant_id, environment, id, last_used_at } = key;
    if (last_used_at && now.getTime() - timestampMs(last_used_at) < PRECISION_MS) return;
    this.#writes.add(id, { merchant_id, environment, id, at: now });
  }
}
