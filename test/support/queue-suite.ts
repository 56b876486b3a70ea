import { Code, type Transport } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { ALL_GRANTS } from '../../services/platform/rpc/grants.ts';
import { expectRefusal } from './expect-refusal.ts';
import { newTenant, type TestTenant } from './harness.ts';
import { describeList, describePlans } from './list-suite.ts';
import { fittingRows, type ListSubject, maxLimitOf, planOf, walk } from './list-walk.ts';
import { sqlOf } from './sql.ts';

/** The filters of a request for the work of one merchant, of one environment, or of all. */
interface QueueScope {
  readonly merchantId?: string;
  readonly environment?: Environment;
}

/** Filters, and the index that their pages are read off. */
type Plans = readonly (readonly [filter: string, index: string])[];

/** A work queue. */
export interface Queue {
  /** Its list; `scopeOf` says whose work a merchant's fixture lists. */
  subjectOf(scopeOf: (tenant: TestTenant) => QueueScope): ListSubject;
  /** Requests the work of all merchants. */
  list(transport: Transport): Promise<unknown>;
  readonly table: string;
  /** Whether its plans are those of many rows, because indexes of few rows cost the same. */
  readonly isMultiplied?: boolean;
  /** Copies the rows of a merchant thousands of times. Required for plans of one merchant. */
  copyRowsOf?(merchantId: string): Promise<void>;
  /** Adds the work of a thousand rows and finishes it; absent when the rows of finished work are deleted. */
  addFinished?(): Promise<void>;
}

/**
 * Tests what holds for every work queue. `statements` gets what the harness sends to its database.
 * @param queueOf is also called before the harness starts.
 * @param plans of pages over all merchants.
 * @param plansOfMerchant of pages of one merchant, if it can have many rows.
 */
export function describeQueue(
  name: string,
  queueOf: () => Queue,
  statements: string[],
  plans: Plans,
  plansOfMerchant: Plans = [],
): void {
  const { table, isMultiplied, addFinished } = queueOf();
  const multiplied = isMultiplied ? table : undefined;
  if (plansOfMerchant.length > 0) {
    // Before there are rows of further merchants.
    it(`${name} reads only what it lists, where nearly all of the work is of one merchant and alike`, () =>
      expectPlansOfAlikeRows(queueOf(), statements, plans, plansOfMerchant));
  }
  describeList(name, () => queueOf().subjectOf((tenant) => tenant));
  describePlans(() => queueOf().subjectOf(() => ({})), statements, plans, multiplied);
  if (plansOfMerchant.length > 0) {
    describePlans(() => queueOf().subjectOf((tenant) => tenant), statements, plansOfMerchant, multiplied);
  }

  describe(`${name} across merchants`, () => {
    it('lists the work of both environments, or of one', () => expectEveryEnvironment(queueOf()));
    it('requires the grant operations', () => expectOperationsGrantRequired(queueOf()));
    if (addFinished) {
      it('keeps finished work out of its indexes', () =>
        expectIndexesToSkipFinished(queueOf(), [...plans, ...plansOfMerchant]));
    }
  });
}

/** Statistics that say that nearly all rows have the value of a filter make an index without its column look as good. */
async function expectPlansOfAlikeRows(
  queue: Queue,
  statements: string[],
  plans: Plans,
  plansOfMerchant: Plans,
): Promise<void> {
  const ofAll = queue.subjectOf(() => ({}));
  const ofMerchant = queue.subjectOf((tenant) => tenant);
  const { harness } = ofAll;
  const { tenant, insert } = await ofAll.fixtureOf(newTenant());
  await insert(0);
  await queue.copyRowsOf!(tenant.merchantId);
  await sqlOf(harness, `analyze ${queue.table}`);
  for (const [subject, expected] of [
    [ofAll, plans],
    [ofMerchant, plansOfMerchant],
  ] as const) {
    const { list } = await subject.fixtureOf(newTenant());
    for (const [name, index] of expected) {
      statements.length = 0;
      await list({ filters: name ? { [name]: subject.filters[name]!.values[0]! } : {}, limit: 1 });
      expect(await planOf(harness, statements.at(-1)!)).toContain(`using ${index} `);
    }
  }
  await sqlOf(harness, `delete from ${queue.table} where merchant_id = $1`, [tenant.merchantId]);
}

async function expectEveryEnvironment(queue: Queue): Promise<void> {
  const live = newTenant();
  const test = newTenant(Environment.TEST);
  const keysOf: string[][] = [];
  for (const tenant of [live, test]) {
    const own = queue.subjectOf(() => tenant);
    const fixture = await own.fixtureOf(tenant);
    for (let place = 0; place < 3; place += 1) await fixture.insert(place);
    keysOf.push((await fittingRows(own, fixture)).map(({ key }) => key));
  }
  const listed = async (scope: QueueScope) => {
    const subject = queue.subjectOf(() => scope);
    return walk(await subject.fixtureOf(live), {}, maxLimitOf(subject));
  };
  const [ofLive, ofTest] = keysOf;
  expect(await listed({})).toEqual(expect.arrayContaining([...ofLive!, ...ofTest!]));
  const sandbox = await listed({ environment: Environment.TEST });
  expect(sandbox).toEqual(expect.arrayContaining(ofTest!));
  expect(sandbox.filter((key) => ofLive!.includes(key))).toEqual([]);
}

async function expectOperationsGrantRequired(queue: Queue): Promise<void> {
  const { harness } = queue.subjectOf(() => ({}));
  const transportWith = (grants: readonly string[]) =>
    harness.services.transportFor({ name: 'reader', grants: new Set(grants) });
  const others = transportWith(ALL_GRANTS.filter((grant) => grant !== 'operations'));
  await expectRefusal(queue.list(others), Code.PermissionDenied, 'GRANT_MISSING', { grant: 'operations' });
  await queue.list(transportWith(['operations']));
}

/** The size of the indexes depends only on open work, because their predicates exclude finished work. */
async function expectIndexesToSkipFinished(queue: Queue, plans: Plans): Promise<void> {
  const { harness } = queue.subjectOf(() => ({}));
  const names = [...new Set(plans.map(([, index]) => index))];
  const entries = async (name: string): Promise<number> => {
    const [index] = await sqlOf<{ predicate: string }>(
      harness,
      "select coalesce(pg_get_expr(indpred, indrelid), 'true') as predicate from pg_index where indexrelid = $1::regclass",
      [`${queue.table.split('.')[0]}.${name}`],
    );
    const [row] = await sqlOf<{ rows: number }>(
      harness,
      `select count(*)::integer as rows from ${queue.table} where ${index!.predicate}`,
    );
    return row!.rows;
  };
  const before = await Promise.all(names.map(entries));
  for (const rows of before) expect(rows).toBeGreaterThan(0);
  await queue.addFinished!();
  expect(await Promise.all(names.map(entries))).toEqual(before);
}
