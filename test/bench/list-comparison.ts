import { createHash, randomUUID } from 'node:crypto';
import type { Transport } from '@connectrpc/connect';
import { textTable } from '../../local/text-table.ts';
import type { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { ALL_GRANTS } from '../../services/platform/rpc/grants.ts';
import { environmentEnum, type Tenant } from '../../services/platform/tenant.ts';
import { startBenchServices } from './bench-services.ts';
import { type SeededRows, seedList } from './seed-lists.ts';
import { compareSizes, FEW_ROWS, MANY_ROWS, prepareStatistics } from './size-comparison.ts';

const HEADINGS = ['', `${FEW_ROWS} rows`, `${MANY_ROWS} rows`, 'ratio', ''];
const PAGE_SIZE = 50;

/** A merchant with this many rows of each list. */
interface Merchant {
  readonly tenant: Tenant;
  readonly count: number;
}

/** The request for a page of a merchant's list. */
export interface PageOf {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly pageSize: number;
}

/** A list to compare. */
export interface ComparedList {
  readonly rows: SeededRows;
  /** Reads a page, and returns its rows. */
  readonly read: (request: PageOf) => Promise<readonly unknown[]>;
  /** Filters by their names, with values that most rows have, few or none. */
  readonly filters: Readonly<Record<string, object | ((merchant: Merchant) => object)>>;
}

/** How much longer pages of lists take, with each filter, for a merchant with a thousand times as many rows. */
export async function compareLists(
  listsOf: (transport: Transport) => Readonly<Record<string, ComparedList>>,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { services, databaseUrl } = await startBenchServices(stack);
  const lists = listsOf(services.transportFor({ name: 'bench', grants: new Set(ALL_GRANTS) }));
  const [few, many] = [merchantWith(FEW_ROWS), merchantWith(MANY_ROWS)];
  for (const [name, { rows }] of Object.entries(lists)) {
    const startedAt = performance.now();
    await seedList(databaseUrl, rows, [few, many]);
    console.log(`${MANY_ROWS} ${name} inserted in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  }
  await prepareStatistics(databaseUrl);
  const rows: string[][] = [];
  for (const [name, { read, filters }] of Object.entries(lists)) {
    for (const [filterName, filter] of Object.entries(filters)) {
      const [readFew, readMany] = [few, many].map((merchant) => {
        const request = {
          ...pageOf(merchant),
          ...(typeof filter === 'function' ? filter(merchant) : filter),
        };
        return () => read(request);
      });
      const found = `${(await readFew!()).length} and ${(await readMany!()).length}`;
      const compared = await compareSizes(readFew!, readMany!);
      const { few: fewMs, many: manyMs, ratio, verdict } = compared;
      rows.push([`${name}, ${filterName}: ${found}`, fewMs, manyMs, ratio, verdict]);
    }
  }
  console.log(textTable([HEADINGS, ...rows]));
}

const merchantWith = (count: number): Merchant => ({
  tenant: { merchantId: randomUUID(), environment: 'live' },
  count,
});

const pageOf = ({ tenant }: Merchant): PageOf => ({
  merchantId: tenant.merchantId,
  environment: environmentEnum(tenant.environment),
  pageSize: PAGE_SIZE,
});

/** PostgreSQL's md5(text). */
export const md5Of = (text: string): string => createHash('md5').update(text).digest('hex');

/** PostgreSQL's md5(text)::uuid. */
export const uuidOf = (text: string): string =>
  md5Of(text).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
