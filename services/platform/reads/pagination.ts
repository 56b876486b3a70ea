import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Database } from '../database/database.ts';
import { invalidArgument } from '../errors.ts';
import type { KeyRing } from '../key-ring.ts';
import type { Tenant } from '../tenant.ts';
import { type ListOrder, type PageRange, positionOf } from './list-order.ts';
import type { PreparedRead } from './prepared-read.ts';

const VERSION = 1;
/** 96 bits: 12 bytes fill 16 base64url characters exactly, without spare bits. */
const SIGNATURE_CHARACTERS = 16;
const DEFAULT_PAGE_SIZE = 50;

/** The list that a page token belongs to; its signature covers it. */
export interface ListScope<Row> {
  /** Absent for lists that do not belong to a merchant; their filters identify the owner. */
  readonly tenant?: Tenant;
  /** Name of the list, unique among all lists. */
  readonly list: string;
  /** Normalized filter values, without the page size. */
  readonly filters: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  readonly order: ListOrder<Row>;
}

/** The paging fields of every list request; 0 means the default size, '' the first page. */
export interface PageRequest {
  readonly pageSize: number;
  readonly pageToken: string;
}

/** The rows of a page, and the token of the next page or '' at the end. */
export interface Page<Row> {
  readonly rows: Row[];
  readonly nextPageToken: string;
}

/**
 * Keyset pagination with opaque signed tokens. A token is a position, not a row: it keeps working when its row changes or
 * is deleted. It contains only the order columns of the last row of its page. Its signature covers version, tenant, list,
 * filters and order, but not the page size.
 *
 * Rows committed before the first page that keep matching are returned exactly once. Rows committed later are returned at
 * most once: if their position is still ahead.
 */
export class Pagination {
  readonly #database: Pick<Database, 'readList'>;
  readonly #keys: KeyRing;

  constructor(database: Pick<Database, 'readList'>, keys: KeyRing) {
    this.#database = database;
    this.#keys = keys;
  }

  /** Reads a page with the statement that `select` makes for its range. Throws like `page`. */
  list<Row>(
    scope: ListScope<Row>,
    request: PageRequest,
    select: (range: PageRange) => PreparedRead<Row>,
  ): Promise<Page<Row>> {
    return this.page(scope, request, (range) => this.#database.readList(select(range)));
  }

  /**
   * Reads a page; `read` returns the rows of the page in the list's order. INVALID_ARGUMENT (INVALID_PAGE_TOKEN) when the
   * token was tampered with, belongs to another list, or was signed with a removed key.
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
    const content = Buffer.from([id, ...positionOf(scope.order, last)].join('|')).toString('base64url');
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

/** A scope is always built by the same list, so its members are in a stable order. */
function sign(key: KeyObject, scope: ListScope<never>, content: string): string {
  const signed = JSON.stringify([VERSION, scope, content]);
  return createHmac('sha256', key).update(signed).digest('base64url').slice(0, SIGNATURE_CHARACTERS);
}

function isSame(shown: string, signature: string): boolean {
  const [a, b] = [Buffer.from(shown), Buffer.from(signature)];
  return a.length === b.length && timingSafeEqual(a, b);
}
