import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { createClient, type Transport } from '@connectrpc/connect';
import pg from 'pg';
import { PriceType, ProductService, ProductType } from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { FundsReleaseStatus, FundsService, SaleStatus } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { selectProduct } from '../../services/catalog/product.queries.ts';
import { selectCalendar, selectReleases } from '../../services/funds/funds.queries.ts';
import { addDays, type CivilDate, civilDateAt } from '../../services/platform/civil-date.ts';
import { environmentEnum, type Tenant } from '../../services/platform/tenant.ts';
import { startBenchServices } from './bench-services.ts';
import { seedFunds } from './seed-funds.ts';
import { compareSizes, FEW_ROWS, MANY_ROWS, prepareStatistics, ROUNDS } from './size-comparison.ts';

const PRODUCTS = 500;

interface Merchant {
  readonly tenant: Tenant;
  readonly installments: number;
  readonly productId: string;
}

/**
 * How much longer the hot reads of funds and the catalog take for a merchant with a thousand times as many
 * installments.
 */
export async function benchFundsReads(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const today = civilDateAt(new Date());
  const { services, databaseUrl } = await startBenchServices(stack);
  const grants = new Set(['funds:read', 'catalog:read', 'catalog:write']);
  const transport = services.transportFor({ name: 'bench', grants });
  const small = await merchantWith(FEW_ROWS, databaseUrl, transport, today);
  const large = await merchantWith(MANY_ROWS, databaseUrl, transport, today);
  await prepareStatistics(databaseUrl);
  for (const merchant of [small, large]) await verify(transport, merchant);

  console.log(`median of at most ${ROUNDS} calls each, in turn: ${FEW_ROWS} and ${MANY_ROWS} installments`);
  for (const [name, read] of Object.entries(await readsOf(transport, today, [small, large]))) {
    const { few, many, ratio, verdict } = await compareSizes(
      () => read(small),
      () => read(large),
    );
    console.log(`${name}: ${few} and ${many}, ratio ${ratio}  ${verdict}`);
  }
  for (const merchant of [small, large]) await explain(databaseUrl, merchant, today);
}

async function merchantWith(
  installments: number,
  databaseUrl: string,
  transport: Transport,
  today: CivilDate,
): Promise<Merchant> {
  const tenant: Tenant = { merchantId: randomUUID(), environment: 'live' };
  const startedAt = performance.now();
  await seedFunds(databaseUrl, tenant, installments, today);
  console.log(
    `${installments} installments copied in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
  );
  return { tenant, installments, productId: await seedProducts(transport, tenant) };
}

/** Adds products with a price each, too many to find one without its key. Returns the id of one. */
async function seedProducts(transport: Transport, tenant: Tenant): Promise<string> {
  const products = createClient(ProductService, transport);
  const write = () => ({ ...named(tenant), idempotencyKey: randomUUID() });
  let productId = '';
  for (let n = 0; n < PRODUCTS; n += 1) {
    const kind = { productType: ProductType.ONE_TIME, refundWindowDays: 7 };
    const { product } = await products.createProduct({ ...write(), name: `Course ${n}`, ...kind });
    productId = product!.id;
    const price = { amountMinor: 9_900n, type: PriceType.ONE_TIME, maxInstallments: 12 };
    await products.createPrice({ ...write(), productId, ...price });
  }
  return productId;
}

const named = ({ merchantId, environment }: Tenant) => ({
  merchantId,
  environment: environmentEnum(environment),
});

/** Verifies the funds: the measurement counts only if they add up. */
async function verify(transport: Transport, { tenant, installments }: Merchant): Promise<void> {
  const startedAt = performance.now();
  const { differences } = await createClient(FundsService, transport).verifyFunds(named(tenant));
  if (differences.length > 0) throw new Error(`the seeded books differ: ${JSON.stringify(differences[0])}`);
  console.log(
    `${installments} installments verified in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
  );
}

/** The reads by their names. A page in the middle is the one after the first hundred rows. */
async function readsOf(transport: Transport, today: CivilDate, merchants: readonly Merchant[]) {
  const funds = createClient(FundsService, transport);
  const products = createClient(ProductService, transport);
  const tokens = new Map<Merchant, string>();
  for (const merchant of merchants) {
    const page = await funds.listFundsReleases({ ...named(merchant.tenant), pageSize: 100 });
    tokens.set(merchant, page.nextPageToken);
  }
  const list = (filter: object) => (merchant: Merchant) =>
    funds.listFundsReleases({ ...named(merchant.tenant), pageSize: 50, ...filter });
  const lastDays = list({ status: FundsReleaseStatus.RELEASED, fromDate: addDays(today, -7) });
  const date = (await lastDays(merchants[0]!)).releases[0]!.date;
  // The few have some twenty sales on a day.
  const salesOfDay = (filter: object) => (merchant: Merchant) =>
    funds.listReleaseSales({ ...named(merchant.tenant), pageSize: 10, date, ...filter });
  return {
    'list, first page': list({}),
    'list, page in the middle': (merchant: Merchant) =>
      list({ pageToken: tokens.get(merchant) ?? '' })(merchant),
    'list, scheduled': list({ status: FundsReleaseStatus.SCHEDULED }),
    'list, from today': list({ fromDate: today }),
    'sales, first page': (merchant: Merchant) => funds.listSales({ ...named(merchant.tenant), pageSize: 50 }),
    'sales, partially released': (merchant: Merchant) =>
      funds.listSales({ ...named(merchant.tenant), pageSize: 50, status: SaleStatus.PARTIALLY_RELEASED }),
    'sales, blocked (none)': (merchant: Merchant) =>
      funds.listSales({ ...named(merchant.tenant), pageSize: 50, status: SaleStatus.BLOCKED }),
    'sales of a day': salesOfDay({}),
    'sales of a day, released': salesOfDay({ status: FundsReleaseStatus.RELEASED }),
    'sales of a day, scheduled (none)': salesOfDay({ status: FundsReleaseStatus.SCHEDULED }),
    'statement, the last 200 days': (merchant: Merchant) =>
      funds.listMovements({ ...named(merchant.tenant), pageSize: 50, fromDate: addDays(today, -200) }),
    'what an advance can cover': (merchant: Merchant) =>
      funds.listAdvanceableInstallments(named(merchant.tenant)),
    balance: (merchant: Merchant) => funds.getBalance(named(merchant.tenant)),
    'calendar, this month': (merchant: Merchant) => funds.getReleaseCalendar(named(merchant.tenant)),
    'calendar, in three months': (merchant: Merchant) =>
      funds.getReleaseCalendar({ ...named(merchant.tenant), month: addDays(today, 92).slice(0, 7) }),
    product: ({ tenant, productId }: Merchant) => products.getProduct({ ...named(tenant), productId }),
  };
}

/** Prints the plans of the statements behind the reads. */
async function explain(databaseUrl: string, { tenant, installments, productId }: Merchant, today: CivilDate) {
  const all = { from: undefined, to: undefined, status: undefined };
  const statements = {
    list: selectReleases({ ...tenant, ...all, after: undefined, afterTie: undefined, limit: 51 }),
    calendar: selectCalendar({ ...tenant, from: today, to: addDays(today, 30) }),
    product: selectProduct({ ...tenant, id: productId }),
  };
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  for (const [name, { sql, parameters }] of Object.entries(statements)) {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain (analyze, buffers) ${sql}`,
      parameters as unknown[],
    );
    console.log(`\n${name}, ${installments} installments`);
    console.log(rows.map((row) => row['QUERY PLAN']).join('\n'));
  }
  await client.end();
}
