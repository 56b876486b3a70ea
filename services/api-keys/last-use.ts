import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Logger } from 'pino';
import type { Database } from '../platform/database.ts';
import type { ShownKeyRow } from './api-key.queries.ts';

/** The last use is kept to the minute: a busy key costs a write a minute, not one a request. */
const PRECISION_MS = 60_000;
const BATCH_MS = 100;

const WRITE_LAST_USES = `
update api_keys.api_key as api_key set last_used_at = used.at
from json_to_recordset(?::json) as used (merchant_id uuid, environment text, id uuid, at timestamptz(3))
where api_key.merchant_id = used.merchant_id and api_key.environment = used.environment and api_key.id = used.id
  and (api_key.last_used_at is null or api_key.last_used_at < used.at)`;

/** Writes down when keys were last used: many in one statement, after their requests and never on their path. */
export class LastUse {
  readonly #database: Database;
  readonly #logger: Logger;
  #uses = new Map<string, object>();
  #timer: NodeJS.Timeout | undefined;

  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
  }

  /** Takes note of a use, unless the key was used a moment ago. */
  note(key: ShownKeyRow, now: Date): void {
    const { merchant_id, environment, id, last_used_at } = key;
    if (last_used_at && now.getTime() - timestampMs(last_used_at) < PRECISION_MS) return;
    this.#uses.set(id, { merchant_id, environment, id, at: now });
    this.#timer ??= setTimeout(() => this.#write(), BATCH_MS).unref();
  }

  async #write(): Promise<void> {
    const uses = JSON.stringify([...this.#uses.values()]);
    this.#uses = new Map();
    this.#timer = undefined;
    try {
      await this.#database.transaction((em) => em.execute(WRITE_LAST_USES, [uses]));
    } catch (error) {
      this.#logger.warn({ err: error }, 'last uses of API keys were not written');
    }
  }
}
