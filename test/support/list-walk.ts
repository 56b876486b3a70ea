import { Code, ConnectError } from '@connectrpc/connect';
import { expect } from 'vitest';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { errorInfoOf } from '../../services/platform/rpc/connect-errors.ts';
import type { TestHarness, TestTenant } from './harness.ts';
import { poolOf, sqlOf } from './sql.ts';

/** Values of filters by name, as the list's caller writes them. */
export type ListFilters = Readonly<Record<string, string>>;

/** A row read directly from its table: its key in the list, its place in the order, and the values of filters. */
export interface TrueRow {
  readonly key: string;
  /** The order columns as text that sorts as they do, a space between them. */
  readonly order: string;
  readonly [column: string]: string | null;
}

export interface ListRequest {
  readonly filters?: ListFilters;
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
}

export interface ListPage {
  readonly keys: string[];
  /** The token of the next page, if there is one. */
  readonly next: string | undefined;
}

/** One merchant's list in one environment. */
export interface ListFixture {
  readonly tenant: TestTenant;
  list(request: ListRequest): Promise<ListPage | 'TOKEN_REFUSED'>;
  /** Adds a row in one of a few places of the order, which may have others already. */
  insert(place: number): Promise<void>;
  /** Changes a row in one of several ways, chosen by `pick`. */
  change(row: TrueRow, pick: number): Promise<void>;
}

/** A list and its properties. */
export interface ListSubject {
  readonly harness: TestHarness;
  readonly direction: 'asc' | 'desc';
  /** Of a page. Default: 100. */
  readonly maxLimit?: number;
  /** The values to try for each filter and, for a filter that compares, how. */
  readonly filters: Readonly<
    Record<
      string,
      {
        readonly values: readonly string[];
        readonly isId?: boolean;
        readonly fits?: (row: TrueRow, value: string) => boolean;
      }
    >
  >;
  /** Whether the list refuses these filters together. */
  readonly refuses?: (filters: ListFilters) => boolean;
  /** Whether both environments of a merchant have the same rows. */
  readonly acrossEnvironments?: boolean;
  /** Selects the rows of merchant $1 in environment $2, with a column for each filter. */
  readonly truth: string;
  fixtureOf(tenant: TestTenant): Promise<ListFixture>;
}

export const maxLimitOf = ({ maxLimit = 100 }: ListSubject) => maxLimit;

/** A page of an RPC list, with keys read by `keysOf`. */
export async function rpcPage<Answer extends { nextPageToken: string }>(
  asked: Promise<Answer>,
  keysOf: (answer: Answer) => string[],
): Promise<ListPage | 'TOKEN_REFUSED'> {
  try {
    const answer = await asked;
    return { keys: keysOf(answer), next: answer.nextPageToken || undefined };
  } catch (error) {
    const isRefusal = error instanceof ConnectError && error.code === Code.InvalidArgument;
    if (isRefusal && errorInfoOf(error)?.reason === 'INVALID_PAGE_TOKEN') return 'TOKEN_REFUSED';
    throw error;
  }
}

const START_MS = Date.UTC(2020, 0, 1);

/** The time of a place in a list that is ordered by a time. */
export const timeOf = (place: number) => new Date(START_MS + place);

/** Moves a row to a place in its list, which no RPC can do, because rows are ordered by their creation. */
export async function placeRow(
  harness: TestHarness,
  table: string,
  column: string,
  id: string,
  place: number,
) {
  await sqlOf(harness, `update ${table} set ${column} = $1 where id = $2`, [timeOf(place), id]);
}

/** SQL of the order of a list newest first by a time and the id. */
export const newestFirst = (column: string) =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS') || ' ' || id as "order"`;

/** The matching rows in the list's order, as currently in the database. */
export async function fittingRows(
  subject: ListSubject,
  { tenant }: ListFixture,
  filters: ListFilters = {},
): Promise<TrueRow[]> {
  const environment = tenant.environment === Environment.LIVE ? 'live' : 'test';
  const rows = await sqlOf<TrueRow>(subject.harness, subject.truth, [tenant.merchantId, environment]);
  const fitting = rows.filter((row) =>
    Object.entries(filters).every(([name, value]) => {
      const { fits } = subject.filters[name]!;
      return fits ? fits(row, value) : row[name] === value;
    }),
  );
  return fitting.sort((a, b) => (isAfter(subject, a.order, b.order) ? 1 : -1));
}

function isAfter({ direction }: ListSubject, order: string, position: string): boolean {
  return direction === 'asc' ? order > position : order < position;
}

/** A page; fails when the token is refused. */
export async function pageOf(fixture: ListFixture, request: ListRequest): Promise<ListPage> {
  const answer = await fixture.list(request);
  if (answer === 'TOKEN_REFUSED') throw new Error('the list refused a token of its own');
  return answer;
}

/** All keys, page by page: every page but the last is full, and the last is not empty unless it is the first. */
export async function walk(fixture: ListFixture, filters: ListFilters, limit?: number): Promise<string[]> {
  const keys: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await pageOf(fixture, { filters, limit, after });
    if (page.next) expect(page.keys).toHaveLength(limit ?? 50);
    else if (after) expect(page.keys.length).toBeGreaterThan(0);
    keys.push(...page.keys);
    expect(new Set(keys).size).toBe(keys.length);
    after = page.next;
    if (!after) return keys;
  }
}

/** The generic plan of a statement, as for a table that is too large to be read or sorted completely. */
export async function planOf(harness: TestHarness, statement: string): Promise<string> {
  const off = ['enable_seqscan', 'enable_bitmapscan', 'enable_sort'].map(
    (name) => `set local ${name} = off;`,
  );
  const results = await poolOf(harness).query(
    `begin; ${off.join('')} explain (generic_plan) ${statement}; rollback`,
  );
  const { rows } = (results as unknown as { rows: { 'QUERY PLAN': string }[] }[])[4]!;
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

/** A walk through a list whose rows change in the meantime, compared with a model. */
export class ListWalk {
  readonly #subject: ListSubject;
  readonly #fixture: ListFixture;
  readonly #filters: ListFilters;
  readonly #seen: string[] = [];
  /** Keys that have matched since before the first page. */
  #throughout: Set<string> | undefined;
  #after: string | undefined;
  #position: string | undefined;
  ended = false;

  constructor(subject: ListSubject, fixture: ListFixture, filters: ListFilters) {
    this.#subject = subject;
    this.#fixture = fixture;
    this.#filters = filters;
  }

  /** The next page without concurrent writes: the first rows after the position, and a token if there are more. */
  async exactPage(limit: number): Promise<void> {
    const fitting = await this.#fitting();
    this.#throughout ??= new Set(fitting.map(({ key }) => key));
    const position = this.#position;
    const ahead = fitting.filter(
      ({ order }) => position === undefined || isAfter(this.#subject, order, position),
    );
    const page = await this.page(limit);
    const expected = ahead.slice(0, limit);
    expect(page.keys).toEqual(expected.map(({ key }) => key));
    expect(page.next !== undefined).toBe(ahead.length > limit);
    this.#position = expected.at(-1)?.order;
  }

  /** The next page while others write. */
  async page(limit: number): Promise<ListPage> {
    const page = await pageOf(this.#fixture, { filters: this.#filters, limit, after: this.#after });
    this.#seen.push(...page.keys);
    expect(new Set(this.#seen).size).toBe(this.#seen.length);
    this.#after = page.next;
    this.ended = page.next === undefined;
    return page;
  }

  /** Call this after each change: rows that do not match now have not matched throughout. */
  async noteWhatFits(): Promise<void> {
    if (!this.#throughout || this.ended) return;
    const fitting = new Set((await this.#fitting()).map(({ key }) => key));
    for (const key of this.#throughout) if (!fitting.has(key)) this.#throughout.delete(key);
  }

  expectComplete(): void {
    const missed = [...this.#throughout!].filter((key) => !this.#seen.includes(key));
    expect(missed).toEqual([]);
  }

  #fitting(): Promise<TrueRow[]> {
    return fittingRows(this.#subject, this.#fixture, this.#filters);
  }
}
