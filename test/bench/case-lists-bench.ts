import { createHash, randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { textTable } from '../../local/text-table.ts';
import {
  RefundCaseOrder,
  RefundCaseService,
  RefundCaseStatus,
  RefundInitiator,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { addDays, civilDateAt } from '../../services/platform/civil-date.ts';
import { environmentEnum, type Tenant } from '../../services/platform/tenant.ts';
import { startBenchServices } from './bench-services.ts';
import { REFUND_CASES, seedList } from './seed-lists.ts';
import { compareSizes, FEW_ROWS, MANY_ROWS, prepareStatistics } from './size-comparison.ts';

const HEADINGS = ['', `${FEW_ROWS} cases`, `${MANY_ROWS} cases`, 'ratio', ''];

/** How much longer ListRefundCases takes, with each filter, for a merchant with a thousand times as many cases. */
export async function benchCaseLists(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { services, databaseUrl } = await startBenchServices(stack);
  const few = await merchantWith(FEW_ROWS, databaseUrl);
  const many = await merchantWith(MANY_ROWS, databaseUrl);
  await prepareStatistics(databaseUrl);
  const transport = services.transportFor({ name: 'bench', grants: new Set(['refunds:read']) });
  const refunds = createClient(RefundCaseService, transport);
  const rows: string[][] = [];
  for (const [name, filter] of Object.entries(FILTERS)) {
    const read = async ({ tenant, count }: Merchant) => {
      const request = { merchantId: tenant.merchantId, environment: environmentEnum(tenant.environment) };
      return refunds.listRefundCases({ ...request, pageSize: 50, ...filter(count) });
    };
    const { refundCases } = await read(many);
    const compared = await compareSizes(
      () => read(few),
      () => read(many),
    );
    rows.push([
      `${name}: ${refundCases.length}`,
      compared.few,
      compared.many,
      compared.ratio,
      compared.verdict,
    ]);
  }
  console.log(textTable([HEADINGS, ...rows]));
}

interface Merchant {
  readonly tenant: Tenant;
  readonly count: number;
}

/** Each filter of the list, and those that can be combined so that few of many rows match. */
const FILTERS: Readonly<Record<string, (count: number) => object>> = {
  'no filter': () => ({}),
  'status, most': () => ({ status: RefundCaseStatus.SUCCEEDED }),
  'status, few': () => ({ status: RefundCaseStatus.MERCHANT_REVIEW }),
  'status, none': () => ({ status: RefundCaseStatus.CANCELED }),
  'by deadline': () => ({ order: RefundCaseOrder.REVIEW_DEADLINE }),
  initiator: () => ({ initiator: RefundInitiator.MERCHANT }),
  'status and initiator': () => ({ status: RefundCaseStatus.FAILED, initiator: RefundInitiator.MERCHANT }),
  'status and initiator, none': () => ({
    status: RefundCaseStatus.REJECTED,
    initiator: RefundInitiator.MERCHANT,
  }),
  order: (count) => ({ orderId: uuidOf(`order${count / 2}`) }),
  'order and status': (count) => ({
    orderId: uuidOf(`order${count / 2}`),
    status: RefundCaseStatus.SUCCEEDED,
  }),
  'from a day in the middle': () => ({ toDate: addDays(civilDateAt(new Date()), -500) }),
  'day and status': () => ({
    toDate: addDays(civilDateAt(new Date()), -500),
    status: RefundCaseStatus.FAILED,
  }),
  payment: (count) => ({ paymentIntentId: uuidOf(`${count / 2}`) }),
};

/** What PostgreSQL makes of md5(text)::uuid. */
const uuidOf = (text: string) =>
  createHash('md5')
    .update(text)
    .digest('hex')
    .replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

async function merchantWith(count: number, databaseUrl: string): Promise<Merchant> {
  const tenant: Tenant = { merchantId: randomUUID(), environment: 'live' };
  const startedAt = performance.now();
  await seedList(databaseUrl, REFUND_CASES, tenant, count);
  console.log(`${count} cases inserted in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return { tenant, count };
}
