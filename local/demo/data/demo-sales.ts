import { BlockOutcome, BlockReason, SaleMethod } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { DemoTenant } from './demo-tenant.ts';

const FIRST_DAYS_AGO = 182;
const LAST_DAYS_AGO = 1;
const FIRST_ORDER = 10_400;
const CUSTOMERS = 40;
const INSTALLMENTS = [2, 3, 6, 4, 10, 12];
/** Without REFUND_IN_PROGRESS: such a block belongs to a refund case, and the demo's cases bring their own. */
const BLOCK_REASONS = [BlockReason.HOLD_OR_DISPUTE, BlockReason.KYC_PENDING, BlockReason.COMPLIANCE_HOLD];
const DEDUCTION_REASONS = ['Tarifa de contestação', 'Ajuste de tarifas do mês'];

/** A planned sale. */
export interface DemoSale {
  readonly n: number;
  readonly saleId: string;
  readonly grossAmountMinor: number;
  readonly daysAgo: number;
  /** Absent for a sale without an order. */
  readonly orderId: string | undefined;
  readonly productId: string | undefined;
}

/**
 * Sales over half a year, oldest first: every third an instant transfer, the others cards with installments. Most have an
 * order and one of the products; customers buy several times.
 */
export function planDemoSales(demo: DemoTenant, productIds: readonly string[]): DemoSale[] {
  const { sales } = demo.size;
  return Array.from({ length: sales }, (_, n) => ({
    n,
    saleId: demo.id(`sale-${n}`),
    grossAmountMinor: demo.between(5_000, 300_000),
    daysAgo: FIRST_DAYS_AGO - ((FIRST_DAYS_AGO - LAST_DAYS_AGO) * n) / (sales - 1),
    orderId: n % 8 === 7 ? undefined : demo.id(`sale-order-${n}`),
    productId: n % 5 === 4 ? undefined : demo.pick(productIds, n),
  }));
}

export async function recordDemoSale(demo: DemoTenant, sale: DemoSale): Promise<void> {
  const { n, saleId, grossAmountMinor, daysAgo, orderId, productId } = sale;
  const instant = n % 3 === 0;
  await demo.clients.funds.recordSale({
    ...demo.write(`sale-${n}`),
    saleId,
    method: instant ? SaleMethod.INSTANT_TRANSFER : SaleMethod.CARD,
    grossAmountMinor: BigInt(grossAmountMinor),
    feesAmountMinor: BigInt(Math.round(grossAmountMinor * (instant ? 0.01 : 0.039))),
    installments: instant ? 1 : demo.pick(INSTALLMENTS, n),
    ...(orderId && { orderId, orderNumber: `R-${FIRST_ORDER + n}` }),
    ...(productId && { productId }),
    ...(n % 6 !== 5 && { customerReference: `customer-${n % CUSTOMERS}` }),
    occurredAt: demo.daysAgo(daysAgo),
  });
}

/** Blocks funds for every other reason, returns one block and consumes another, and applies deductions. */
export async function blockAndDeduct(demo: DemoTenant, sales: readonly DemoSale[]): Promise<void> {
  const { funds } = demo.clients;
  const recent = sales.filter((_, n) => n % 3 !== 0).slice(-24);
  for (const [n, { saleId }] of recent.slice(0, 10).entries()) {
    const block = { saleId, reason: demo.pick(BLOCK_REASONS, n), sourceId: demo.id(`block-${n}`) };
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
      reason: demo.pick(DEDUCTION_REASONS, n),
    });
  }
}
