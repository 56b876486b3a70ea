import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { invalidArgument } from '../errors.ts';
import type { KeyRing } from '../key-ring.ts';
import type { Tenant } from '../tenant.ts';
import type { ListOrder, PageRange } from './list-order.ts';

const VERSION = 1;
/** 96 bits: as many characters as base64url writes of twelve bytes, so that none of them holds a bit to spare. */
const SIGNATURE_CHARACTERS = 16;
const DEFAULT_PAGE_SIZE = 50;

/** What a page token is bound to, beside its position: the list it was cut from. */
export interface ListScope<Row> {
  /** Absent where a list is no merchant's: then its filters say whose it is. */
  readonly tenant?: Tenant;
  /** Name of the list, unique among all lists. */
  readonly list: string;
  /** Filters as normalised values; the page size is not one. */
  readonly filters: Readonly<Record<string, string | undefined>>;
  readonly order: ListOrder<Row>;
}

/** What every list request asks for; 0 is the default size, '' the first page. */
export interface PageRequest {
  readonly pageSize: number;
  readonly pageToken: string;
}

/** A page that was cut: its rows, and the token of the next page or '' at the end. */
export interface Page<Row> {
  readonly rows: Row[];
  readonly nextPageToken: string;
}

/**
 * Keyset pagination with opaque signed tokens. A token is a position, not a row: it keeps working when its row
 * changes or goes. It holds nothing but the order columns of the last row of its page. Its signature covers version,
 * tenant, list, filters and order, not the page size.
 *
 * What is committed before the first page and fits throughout is answered exactly once; what is committed later,
 * whatever its time, at most once: when its place is still ahead.
 */
export class Pagination {
  readonly #keys: KeyRing;

  constructor(keys: KeyRing) {
    this.#keys = keys;
  }

  /**
   * Reads a page; `read` answers the rows of the range in the list's order. INVALID_ARGUMENT (INVALID_PAGE_TOKEN)
   * when the token was tampered with, cut from another list or signed with a key that is no more.
   */
  async page<Row>(
    scope: ListScope<Row>,
    request: PageRequest,
    read: (range: PageRange) => Promise<Row[]>,
  ): Promise<Page<Row>> {
    const [after, afterTie] = this.#position(scope, request.pageToken);
    const size = request.pageSize || DEFAULT_PAGE_SIZE;
    const rows = await read({ after, afterTie, limit: size + 1 });
    if (rows.length <= size) return { rows, nextPageToken: '' };
    rows.length = size;
    return { rows, nextPageToken: this.#token(scope, rows[size - 1]!) };
  }

  #token<Row>(scope: ListScope<Row>, last: Row): string {
    const { id, secret } = this.#keys.current;
    const position = scope.order.columns.map((column) => textOf(last[column] as string | Timestamp));
    const content = Buffer.from([id, ...position].join('|')).toString('base64url');
    return content + sign(secret, scope, content);
  }

  #position<Row>(scope: ListScope<Row>, token: string): string[] {
    if (token === '') return [];
    const content = token.slice(0, -SIGNATURE_CHARACTERS);
    const [keyId, ...position] = Buffer.from(content, 'base64url').toString().split('|');
    const key = this.#keys.find(Number(keyId));
    if (key && isSame(token.slice(-SIGNATURE_CHARACTERS), sign(key, scope, content))) return position;
    const field = 'page_token';
    const message = `${field}: is not a token of this list with these filters`;
    throw invalidArgument('INVALID_PAGE_TOKEN', message, { field });
  }
}

/** As PostgreSQL reads it; without '|'. */
function textOf(value: string | Timestamp): string {
  return typeof value === 'string' ? value : timestampDate(value).toISOString();
}

/** A scope is always written by the same list, so its members come in the same order. */
function sign(key: KeyObject, scope: ListScope<never>, content: string): string {
  const signed = JSON.stringify([VERSION, scope, content]);
  return createHmac('sha256', key).update(signed).digest('base64url').slice(0, SIGNATURE_CHARACTERS);
}

function isSame(shown: string, signature: string): boolean {
  const [a, b] = [Buffer.from(shown), Buffer.from(signature)];
  return a.length === b.length && timingSafeEqual(a, b);
}
