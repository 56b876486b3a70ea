import { BlockOutcome, BlockReason, SaleMethod } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { DemoTenant } from './demo-tenant.ts';

const SALES = 120;
const FIRST_DAYS_AGO = 182;
const LAST_DAYS_AGO = 1;
const INSTALLMENTS = [1, 2, 3, 6, 10, 12];
const REASONS = [
  BlockReason.HOLD_OR_DISPUTE,
  BlockReason.REFUND_IN_PROGRESS,
  BlockReason.KYC_PENDING,
  BlockReason.COMPLIANCE_HOLD,
];

/** A recorded sale, for what refers to it later. */
export interface DemoSale {
  readonly saleId: string;
  readonly grossAmountMinor: number;
  readonly daysAgo: number;
}

/** Half a year of sales: every third an instant transfer, the others by card in 1 to 12 instalments. */
export async function recordDemoSales(demo: DemoTenant): Promise<DemoSale[]> {
  const sales: DemoSale[] = [];
  for (let n = 0; n < SALES; n += 1) {
    const daysAgo = FIRST_DAYS_AGO - ((FIRST_DAYS_AGO - LAST_DAYS_AGO) * n) / (SALES - 1);
    const grossAmountMinor = demo.between(5_000, 400_000);
    const instant = n % 3 === 0;
    const saleId = demo.id(`sale-${n}`);
    await demo.clients.funds.recordSale({
      ...demo.write(`sale-${n}`),
      saleId,
      method: instant ? SaleMethod.INSTANT_TRANSFER : SaleMethod.CARD,
      grossAmountMinor: BigInt(grossAmountMinor),
      feesAmountMinor: BigInt(Math.round(grossAmountMinor * (instant ? 0.01 : 0.039))),
      installments: instant ? 1 : demo.pick(INSTALLMENTS, n),
      occurredAt: demo.daysAgo(daysAgo),
    });
    sales.push({ saleId, grossAmountMinor, daysAgo });
  }
  return sales;
}

/** Blocks of every reason, one of them won, one lost, and deductions. */
export async function blockAndDeduct(demo: DemoTenant, sales: readonly DemoSale[]): Promise<void> {
  const { funds } = demo.clients;
  const recent = sales.filter((_, n) => n % 3 !== 0).slice(-24);
  for (const [n, { saleId }] of recent.slice(0, 10).entries()) {
    const block = { saleId, reason: demo.pick(REASONS, n), sourceId: demo.id(`block-${n}`) };
    await funds.blockFunds({ ...demo.write(`block-${n}`), ...block });
    if (n >= 8) {
      const outcome = n === 8 ? BlockOutcome.RETURNED : BlockOutcome.CONSUMED;
      await funds.unblockFunds({ ...demo.write(`unblock-${n}`), ...block, outcome });
    }
  }
  for (const [n, { saleId }] of recent.slice(10, 15).entries()) {
    await funds.applyDeduction({
      ...demo.write(`deduction-${n}`),
      sourceId: demo.id(`deduction-${n}`),
      saleId,
      amountMinor: BigInt(demo.between(500, 3_000)),
    });
  }
}
