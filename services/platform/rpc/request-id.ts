import { randomFillSync } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

const ID_BYTES = 16;
/** Random bytes for many ids: getting them from the system for each id would take longer than everything else. */
const pool = new Uint8Array(256 * ID_BYTES);
let used = pool.length;

/** The id of a request that came without one. */
export function newRequestId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += ID_BYTES;
  return uuidv7({ random: pool.subarray(used - ID_BYTES, used) });
}

/** Whether a text can be the id of a request. PublishEvent also accepts others, which a header could not carry. */
export const isRequestId = (text: string): boolean => /^[\x21-\x7e]{1,100}$/.test(text);
