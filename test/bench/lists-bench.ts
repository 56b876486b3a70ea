import { randomUUID } from 'node:crypto';
import { createClient, type Transport } from '@connectrpc/connect';
import { textTable } from '../../local/text-table.ts';
import { AdvanceRequestStatus, AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { ProductService, ProductStatus } from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import {
  DisputeOrder,
  DisputeOutcome,
  DisputeStatus,
  RefundCaseService,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { addDays, civilDateAt } from '../../services/platform/civil-date.ts';
import { environmentEnum, type Tenant } from '../../services/platform/tenant.ts';
import { startBenchServices } from './bench-services.ts';
import { SEEDED, seedList } from './seed-lists.ts';
import { compareSizes, FEW_ROWS, MANY_ROWS, prepareStatistics } from './size-comparison.ts';

const HEADINGS = ['', `${FEW_ROWS} rows`, `${MANY_ROWS} rows`, 'ratio', ''];
const PAGE_SIZE = 50;

type ListName = keyof typeof SEEDED;

/** How much longer the lists of products, advance requests and disputes take for a merchant with a thousand times as many. */
export async function benchLists(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { services, databaseUrl } = await startBenchServices(stack);
  const [few, many] = [newTenant(), newTenant()];
  for (const [name, insert] of Object.entries(SEEDED)) {
    const startedAt = performance.now();
    await seedList(databaseUrl, insert, few, FEW_ROWS);
    await seedList(databaseUrl, insert, many, MANY_ROWS);
    console.log(`${MANY_ROWS} ${name} inserted in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  }
  await prepareStatistics(databaseUrl);
  const grants = new Set(['catalog:read', 'advances:read', 'refunds:read'] as const);
  const lists = listsOf(services.transportFor({ name: 'bench', grants }));
  const rows: string[][] = [];
  for (const [list, filters] of Object.entries(FILTERS)) {
    for (const [name, filter] of Object.entries(filters)) {
      const read = (tenant: Tenant) => lists[list as ListName](tenant, filter);
      const compared = await compareSizes(
        () => read(few),
        () => read(many),
      );
      rows.push([
        `${list}, ${name}: ${await read(few)} and ${await read(many)}`,
        compared.few,
        compared.many,
        compared.ratio,
        compared.verdict,
      ]);
    }
  }
  console.log(textTable([HEADINGS, ...rows]));
}

const newTenant = (): Tenant => ({ merchantId: randomUUID(), environment: 'live' });

/** Reads a page of each list, and returns how many rows it has. */
function listsOf(
  transport: Transport,
): Readonly<Record<ListName, (tenant: Tenant, filter: object) => Promise<number>>> {
  const products = createClient(ProductService, transport);
  const advances = createClient(AdvanceService, transport);
  const refunds = createClient(RefundCaseService, transport);
  const page = ({ merchantId, environment }: Tenant, filter: object) => ({
    merchantId,
    environment: environmentEnum(environment),
    pageSize: PAGE_SIZE,
    ...filter,
  });
  return {
    products: async (tenant, filter) => (await products.listProducts(page(tenant, filter))).products.length,
    'advance requests': async (tenant, filter) =>
      (await advances.listAdvanceRequests(page(tenant, filter))).advanceRequests.length,
    disputes: async (tenant, filter) => (await refunds.listDisputes(page(tenant, filter))).disputes.length,
  };
}

const middle = addDays(civilDateAt(new Date()), -500);

/** The filters of each list, with values that most rows have, few or none. */
const FILTERS: Readonly<Record<ListName, Readonly<Record<string, object>>>> = {
  products: {
    'no filter': {},
    'status, most': { status: ProductStatus.ACTIVE },
    'status, few': { status: ProductStatus.DRAFT },
  },
  'advance requests': {
    'no filter': {},
    'status, most': { status: AdvanceRequestStatus.SETTLED },
    'status, few': { status: AdvanceRequestStatus.PENDING_REVIEW },
    'status, none': { status: AdvanceRequestStatus.APPROVED },
    'from a day in the middle': { toDate: middle },
    'day and status': { toDate: middle, status: AdvanceRequestStatus.REFUSED },
  },
  disputes: {
    'no filter': {},
    open: { status: DisputeStatus.OPEN },
    closed: { status: DisputeStatus.CLOSED },
    'outcome, most': { outcome: DisputeOutcome.WON },
    'outcome, none': { outcome: DisputeOutcome.REVERSED },
    'from a day in the middle': { toDate: middle },
    'by due date': { order: DisputeOrder.DUE_DATE },
  },
};
