import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import stringify from 'safe-stable-stringify';
import { invalidArgument } from './errors.ts';
import type { KeyRing } from './key-ring.ts';
import type { Tenant } from './tenant.ts';

const VERSION = 1;
const SIGNATURE_BYTES = 12;
const DEFAULT_PAGE_SIZE = 50;

/** What a page token is bound to, beside its position: the list it was cut from. */
export interface ListScope {
  readonly tenant: Tenant;
  /** Name of the list, unique among all lists. */
  readonly list: string;
  /** Filters as normalised values; the page size is not one. */
  readonly filters: Readonly<Record<string, string | undefined>>;
}

/** A page that was cut: its rows, and the token of the next page or '' at the end. */
export interface Page<Row> {
  readonly rows: Row[];
  readonly nextPageToken: string;
}

/**
 * Keyset pagination with opaque signed tokens. A token is a position, not a row: it keeps working when its row
 * changes or goes. Its signature covers version, tenant, list and filters, not the page size.
 */
export class Pagination {
  readonly #keys: KeyRing;

  constructor(keys: KeyRing) {
    this.#keys = keys;
  }

  /**
   * The position a page starts after, as the strings that `encode` was given, or undefined for the first page.
   * INVALID_ARGUMENT (INVALID_PAGE_TOKEN) when the token was tampered with or cut from another list.
   */
  position(scope: ListScope, pageToken: string, columns: number): readonly string[] | undefined {
    if (pageToken === '') return undefined;
    const bytes = Buffer.from(pageToken, 'base64url');
    if (bytes.toString('base64url') === pageToken && bytes.length > SIGNATURE_BYTES + 1) {
      const key = this.#keys.find(bytes[0]!);
      const signed = bytes.subarray(0, -SIGNATURE_BYTES);
      if (key && timingSafeEqual(sign(key, scope, signed), bytes.subarray(-SIGNATURE_BYTES))) {
        const position = signed.subarray(1).toString('utf8').split('|');
        if (position.length === columns) return position;
      }
    }
    throw invalidArgument(
      'INVALID_PAGE_TOKEN',
      'page_token: is not a token of this list with these filters',
      {
        field: 'page_token',
      },
    );
  }

  /** How many rows to ask the database for: one more than the page holds tells whether there is another. */
  fetchSize(pageSize: number): number {
    return (pageSize || DEFAULT_PAGE_SIZE) + 1;
  }

  /**
   * Cuts fetched rows to the page. `positionOf` answers the order columns of a row as strings without '|', short
   * enough for the list's bound on tokens.
   */
  cut<Row>(
    scope: ListScope,
    pageSize: number,
    fetched: Row[],
    positionOf: (row: Row) => string[],
  ): Page<Row> {
    const size = pageSize || DEFAULT_PAGE_SIZE;
    if (fetched.length <= size) return { rows: fetched, nextPageToken: '' };
    const rows = fetched.slice(0, size);
    return { rows, nextPageToken: this.#encode(scope, positionOf(rows[size - 1]!)) };
  }

  #encode(scope: ListScope, position: string[]): string {
    const { id, secret } = this.#keys.current;
    const signed = Buffer.concat([Buffer.from([id]), Buffer.from(position.join('|'), 'utf8')]);
    return Buffer.concat([signed, sign(secret, scope, signed)]).toString('base64url');
  }
}

function sign(key: KeyObject, scope: ListScope, signed: Buffer): Buffer {
  const { tenant, list, filters } = scope;
  const bound = stringify([VERSION, tenant.merchantId, tenant.environment, list, filters])!;
  const text = `${signed.toString('latin1')}\n${bound}`;
  return createHmac('sha256', key).update(text).digest().subarray(0, SIGNATURE_BYTES);
}
