import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Logger } from 'pino';
import type { Database } from '../platform/database/database.ts';
import { type WriteBehind, writeBehind } from '../platform/writes/write-behind.ts';
import type { ApiKeyReadRow } from './api-key.queries.ts';

/** Last uses are accurate to a minute, so a busy key costs one write a minute, not one per request. */
const PRECISION_MS = 60_000;

const WRITE_LAST_USES = `
update api_keys.api_key as api_key set last_used_at = used.at
from json_to_recordset(:rows::json) as used (merchant_id uuid, environment text, id uuid, at timestamptz(3))
where api_key.merchant_id = used.merchant_id and api_key.environment = used.environment and api_key.id = used.id
  and (api_key.last_used_at is null or api_key.last_used_at < used.at)`;

/** Records when keys were last used, without delaying their requests. */
export class LastUse {
  readonly #write: WriteBehind;

  constructor(database: Database, logger: Logger) {
    const failure = 'could not write the last uses of API keys';
    this.#write = writeBehind(database, logger, WRITE_LAST_USES, failure);
  }

  /** Records a use, unless the last one is less than a minute old. */
  record(key: ApiKeyReadRow, now: Date): void {
    const { merchant_id, environment, id, last_used_at } = key;
    if (last_used_at && now.getTime() - timestampMs(last_used_at) < PRECISION_MS) return;
    this.#write(id, { merchant_id, environment, id, at: now });
  }
}
