import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { startHarness, type TestHarness } from './harness.ts';
import { allFilters, fewFilters, inUpperCase, neighboringFilters } from './list-filters.ts';
import {
  fittingRows,
  type ListFixture,
  type ListSubject,
  ListWalk,
  maxLimitOf,
  pageOf,
  planOf,
  walk,
} from './list-walk.ts';
import { sqlOf } from './sql.ts';

const ROWS = 12;
const PLACES = 6;
/** Walks while rows change: one in each list, because all share their pagination. */
const WALKS = 1;

const place = fc.integer({ min: 0, max: PLACES - 1 });
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ insert: place }) },
  { weight: 2, arbitrary: fc.record({ change: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ limit: fc.integer({ min: 1, max: 4 }) }) },
);

/** Makes page tokens as long as possible, and lets a merchant have as many rows as tests want. */
export const LIST_SETTINGS = {
  CURSOR_KEYS: `v255:${randomBytes(32).toString('base64')}`,
  WEBHOOK_SUBSCRIPTION_LIMIT: '1000',
  REFUND_FREQUENCY_LIMIT_24H: '100000',
} as const;

/**
 * The harness of all tests of lists in a file or a suite, and the SQL statements that it sends to its database.
 * @param isCounted whether a statement is one of them.
 */
export function sharedListHarness(services: string, isCounted: (sql: string) => boolean = () => true) {
  let harness: TestHarness;
  const statements: string[] = [];
  beforeAll(async () => {
    harness = await startHarness({ ...LIST_SETTINGS, SERVICES: services }, (sql) => {
      if (isCounted(sql)) statements.push(sql);
    });
  });
  afterAll(() => harness.close());
  return { harness: () => harness, statements };
}

/** Tests what holds for every paged list. pagination.test.ts tests what they share: tokens and the default page size. */
export function describeList(name: string, subjectOf: () => ListSubject): void {
  describe(name, () => {
    let filled: Promise<ListFixture> | undefined;
    /** A merchant with several rows in each place of the order, which differ only in their id. */
    const fixture = () => {
      filled ??= fill(subjectOf());
      return filled;
    };
    it('returns the same rows in the same order, in pages of any size', async () =>
      sameByEveryLimit(subjectOf(), await fixture()));
    it('returns the rows that match each filter, alone and combined', async () =>
      everyFilter(subjectOf(), await fixture()));
    it('skips and repeats nothing while rows are added and changed between pages', () =>
      changedBetweenPages(subjectOf()));
    it('accepts only tokens of the same merchant, environment and filters, with any limit', async () =>
      boundTokens(subjectOf(), await fixture()));
    it('returns an empty page to a merchant or environment without rows', async () =>
      emptyList(subjectOf(), await fixture()));
  });
}

/**
 * The tests of a list in their own harness; see `describeList` and `describePlans`.
 * @returns the harness, for other tests of the file.
 */
export function testList(
  name: string,
  services: string,
  listOf: (harness: TestHarness) => ListSubject,
  ...[plans, multiplied]: [plans: Plans, multiplied?: Multiplied]
): () => TestHarness {
  const { harness, statements } = sharedListHarness(services);
  describeList(name, () => listOf(harness()));
  describePlans(() => listOf(harness()), statements, plans, multiplied);
  return harness;
}

type Plans = readonly (readonly [filters: string, index: string])[];
type Multiplied = string | ((fixture: ListFixture) => Promise<void>);

/**
 * Each of these filters, or several separated by spaces, is read off an index that has the list's order: the plan neither
 * sorts nor reads rows to skip them. An index is named by a pattern. `statements` gets what the harness asks its database.
 * @param multiplied where indexes of few rows cost the same: the table whose rows are multiplied, or what does so.
 */
export function describePlans(
  subjectOf: () => ListSubject,
  statements: string[],
  plans: Plans,
  multiplied?: Multiplied,
): void {
  describe('at scale', () => {
    let filled: Promise<ListFixture> | undefined;
    it.each(plans)('a page filtered by "%s" comes off %s', async (names, index) => {
      const subject = subjectOf();
      filled ??= withRows(subject, 12, multiplied);
      const fixture = await filled;
      const filters = Object.fromEntries(
        names
          .split(' ')
          .filter(Boolean)
          .map((name) => [name, subject.filters[name]!.values[0]!]),
      );
      const { next } = await pageOf(fixture, { filters, limit: 1 });
      statements.length = 0;
      await pageOf(fixture, { filters, after: next });
      // A search also asks where to end, before it reads its page.
      const plan = await planOf(subject.harness, statements.at(-1)!);
      const [ofRows] = plan.split('SubPlan');
      expect(ofRows).toMatch(new RegExp(`using ${index} `));
      expect(ofRows).not.toMatch(/\bSort {2}\(/);
    });
  });
}

/** A walk with any limit returns the same rows; a last page that is exactly full has no next page. */
async function sameByEveryLimit(subject: ListSubject, fixture: ListFixture): Promise<void> {
  const rows = await fittingRows(subject, fixture);
  if (rows[0]!.order.includes(' ')) {
    expect(new Set(rows.map(({ order }) => order.split(' ')[0])).size).toBeLessThan(rows.length);
  }
  const keys = rows.map(({ key }) => key);
  const { length } = keys;
  for (const limit of [1, 7, length - 1, length, length + 1, maxLimitOf(subject), undefined]) {
    expect(await walk(fixture, {}, limit)).toEqual(keys);
  }
}

async function everyFilter(subject: ListSubject, fixture: ListFixture): Promise<void> {
  let answered = 0;
  for (const filters of fewFilters(subject, 2)) {
    const expected = (await fittingRows(subject, fixture, filters)).map(({ key }) => key);
    expect(await walk(fixture, filters, 7)).toEqual(expected);
    answered += expected.length;
  }
  expect(answered).toBeGreaterThan(0);
}

/**
 * To the pages, a row inserted in an earlier place is like a transaction that commits late. Each is read by one statement
 * (see `describePlans`): writes beside it come before or after it.
 */
async function changedBetweenPages(subject: ListSubject): Promise<void> {
  // Few rows match several filters, so most walks have one filter or none.
  const filters = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...fewFilters(subject, 1)) },
    { weight: 1, arbitrary: fc.constantFrom(...allFilters(subject)) },
  );
  const steps = fc.noBias(fc.array(step, { minLength: 12, maxLength: 24 }));
  await fc.assert(
    fc.asyncProperty(
      fc.array(place, { minLength: 5, maxLength: 8 }),
      filters,
      steps,
      async (before, fits, then) => {
        const own = await newFixture(subject);
        for (const at of before) await own.insert(at);
        const walks = [new ListWalk(subject, own, {}), new ListWalk(subject, own, fits)];
        for (const next of then) {
          if ('insert' in next) await own.insert(next.insert);
          else if ('change' in next) await change(subject, own, next.change);
          for (const walking of walks) {
            if (!('limit' in next)) await walking.noteWhatFits();
            else if (!walking.ended) await walking.exactPage(next.limit);
          }
        }
        for (const walking of walks) {
          while (!walking.ended) await walking.exactPage(2);
          walking.expectComplete();
        }
      },
    ),
    { numRuns: WALKS },
  );
}

async function boundTokens(subject: ListSubject, fixture: ListFixture): Promise<void> {
  const sandbox = await subject.fixtureOf({ ...fixture.tenant, environment: Environment.TEST });
  const stranger = await newFixture(subject);
  const maxLimit = maxLimitOf(subject);
  for (const filters of fewFilters(subject, 1)) {
    const expected = (await fittingRows(subject, fixture, filters)).map(({ key }) => key);
    if (expected.length < 2) continue;
    const after = (await pageOf(fixture, { filters, limit: 1 })).next!;
    const rest = { filters: inUpperCase(subject, filters), after };
    expect((await pageOf(fixture, { ...rest, limit: 1 })).keys).toEqual(expected.slice(1, 2));
    expect((await pageOf(fixture, { ...rest, limit: maxLimit })).keys).toEqual(
      expected.slice(1, maxLimit + 1),
    );
    for (const others of neighboringFilters(subject, filters)) {
      expect(await fixture.list({ filters: others, after })).toBe('TOKEN_REFUSED');
    }
    expect(await sandbox.list({ filters, after })).toBe('TOKEN_REFUSED');
    expect(await stranger.list({ filters, after })).toBe('TOKEN_REFUSED');
  }
}

async function emptyList(subject: ListSubject, fixture: ListFixture): Promise<void> {
  const stranger = await newFixture(subject);
  const sandbox = await subject.fixtureOf({ ...fixture.tenant, environment: Environment.TEST });
  const expected = subject.acrossEnvironments ? (await pageOf(fixture, {})).keys : [];
  expect(await pageOf(stranger, {})).toEqual({ keys: [], next: undefined });
  expect((await pageOf(sandbox, {})).keys).toEqual(expected);
}

const newFixture = (subject: ListSubject) =>
  subject.fixtureOf({ merchantId: randomUUID(), environment: Environment.LIVE });

async function withRows(subject: ListSubject, rows: number, multiplied?: Multiplied): Promise<ListFixture> {
  const fixture = await newFixture(subject);
  for (let n = 0; n < rows; n += 1) await fixture.insert(n % PLACES);
  if (typeof multiplied === 'function') await multiplied(fixture);
  else if (multiplied) {
    // Also of other merchants: indexes without the merchant must not look as good.
    // Of the same millisecond as the original: partitions go by the time in an id.
    const id = `left(row.id::text, 13) || substr(gen_random_uuid()::text, 14)`;
    await sqlOf(
      subject.harness,
      `with copies as materialized (
         select jsonb_populate_record(row, jsonb_build_object('id', ${id})) as copy
           from ${multiplied} row, generate_series(1, case when merchant_id = $1 then 100 else 60 end)
          where merchant_id = $1 or id in (select id from ${multiplied} where merchant_id <> $1 limit 300))
       insert into ${multiplied} select (copy).* from copies`,
      [fixture.tenant.merchantId],
    );
    await sqlOf(subject.harness, `analyze ${multiplied}`);
  }
  return fixture;
}

async function fill(subject: ListSubject): Promise<ListFixture> {
  const fixture = await withRows(subject, ROWS);
  for (let n = 0; n < 6; n += 1) await change(subject, fixture, n * 11);
  return fixture;
}

async function change(subject: ListSubject, fixture: ListFixture, pick: number): Promise<void> {
  const rows = await fittingRows(subject, fixture);
  const row = rows[pick % rows.length];
  if (row) await fixture.change(row, pick);
}
