import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Database } from '../database/database.ts';
import { invalidArgument } from '../errors.ts';
import type { KeyRing } from '../key-ring.ts';
import type { Tenant } from '../tenant.ts';
import { type ListOrder, type PageRange, positionOf, type SearchRange } from './list-order.ts';
import { onOwnConnection, type PreparedRead } from './prepared-read.ts';

const VERSION = 1;
/** 96 bits: 12 bytes fill 16 base64url characters exactly, without spare bits. */
const SIGNATURE_CHARACTERS = 16;
const DEFAULT_PAGE_SIZE = 50;
/**
 * How many rows each step of a search reads. A first page takes only the first step, so that it is as fast for a merchant with many
 * rows as for one with few. Later pages take both, so that a search has fewer pages.
 */
const SEARCH_STEPS = [200, 800];

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

/** The statements of a search: a list with filters that have no index together. */
export interface Search<Row, Source> {
  /** The indexes that have all matching rows in the list's order; the search reads the one where it gets furthest. */
  readonly sources: readonly Source[];
  /** The matching rows of a source in a range. */
  select(source: Source, range: SearchRange): PreparedRead<Row>;
  /** The row until which a step reads at most `skipped` rows, or a few times as many, that do not match. */
  selectEnd(source: Source, range: PageRange & { readonly skipped: number }): PreparedRead<Partial<Row>>;
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
    const range = this.#rangeOf(scope, request);
    return this.#pageOf(scope, range.limit, await read(range));
  }

  /**
   * Reads a page of a search: from some 200 rows of an index if it is the first page, otherwise from some 1,000. It may have fewer
   * rows than asked for, or none, although there is a next page. Throws like `page`.
   */
  async search<Row, Source>(
    scope: ListScope<Row>,
    request: PageRequest,
    search: Search<Row, Source>,
  ): Promise<Page<Row>> {
    const { limit, ...start } = this.#rangeOf(scope, request);
    const rows: Row[] = [];
    let { after, afterTie } = start;
    let end: Partial<Row> | undefined;
    for (const step of request.pageToken === '' ? SEARCH_STEPS.slice(0, 1) : SEARCH_STEPS) {
      if (rows.length >= limit) break;
      const range = { after, afterTie, limit: limit - rows.length };
      const furthest = await this.#furthestEnd(scope.order, range, step, search);
      end = furthest.end;
      const [until, untilTie] = end ? positionOf(scope.order, end) : [];
      const read = search.select(furthest.source, { ...range, until, untilTie });
      rows.push(...(await this.#database.readList(onOwnConnection(read))));
      if (!end) break;
      [after, afterTie] = [until, untilTie];
    }
    const page = this.#pageOf(scope, limit, rows);
    return end && !page.nextPageToken ? { ...page, nextPageToken: this.#token(scope, end) } : page;
  }

  /** Where a step ends in the source in which it gets furthest; without an end, it reaches all rows. */
  async #furthestEnd<Row, Source>(
    order: ListOrder<Row>,
    range: PageRange,
    step: number,
    { sources, selectEnd }: Search<Row, Source>,
  ): Promise<{ source: Source; end: Partial<Row> | undefined }> {
    const ends = await Promise.all(
      sources.map(async (source) => {
        const read = selectEnd(source, { ...range, limit: 1, skipped: step - 1 });
        const [end] = await this.#database.readList(onOwnConnection(read));
        return { source, end };
      }),
    );
    return ends.reduce((furthest, other) => (isFurther(order, other.end, furthest.end) ? other : furthest));
  }

  #rangeOf<Row>(scope: ListScope<Row>, request: PageRequest): PageRange {
    const [after, afterTie] = this.#position(scope, request.pageToken);
    return { after, afterTie, limit: (request.pageSize || DEFAULT_PAGE_SIZE) + 1 };
  }

  #pageOf<Row>(scope: ListScope<Row>, limit: number, rows: Row[]): Page<Row> {
    if (rows.length < limit) return { rows, nextPageToken: '' };
    rows.length = limit - 1;
    return { rows, nextPageToken: this.#token(scope, rows.at(-1)!) };
  }

  #token<Row>(scope: ListScope<Row>, last: Partial<Row>): string {
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

/** Whether a row is further down a list than another; no row is furthest. */
function isFurther<Row>(
  order: ListOrder<Row>,
  row: Partial<Row> | undefined,
  other: Partial<Row> | undefined,
): boolean {
  if (!row || !other) return !row && other !== undefined;
  const [a, b] = [row, other].map((each) => positionOf(order, each).join(' '));
  return order.direction === 'asc' ? a! > b! : a! < b!;
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
