import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { BlockEntity, RefundDebitEntity, SaleEntity } from '../funds.entity.ts';
import { type Block, isSameBlock } from '../sales/installment.ts';
import { amountsDeductedFor, lostMinorOf, TENANT_SCOPE } from '../sales/sale-rest.sql.ts';
import { isLimitedByRest, type LostDispute, type UsedSale, wantedMinor } from '../sales/sale-rest.ts';
import type { Hold } from './holds.ts';

const LOST = `
select input.id, ${lostMinorOf('input.id', TENANT_SCOPE)}::text as lost_minor
  from unnest(:ids::uuid[]) as input (id)`;

const LOST_DISPUTES = `
select lost.source_id, lost.amount_minor::text, (
       select coalesce(sum(deducted.amount_minor), 0) from (${amountsDeductedFor(
         'lost.source_id',
         TENANT_SCOPE,
         'lost.sale_id',
       )}) as deducted)::text as deducted_minor
  from funds.block as lost
 where lost.merchant_id = :merchantId and lost.environment = :environment and lost.sale_id = :saleId
   and lost.reason = 'HOLD_OR_DISPUTE' and lost.outcome = 'CONSUMED' and lost.amount_minor is not null
 order by lost.closed_at, lost.id`;

/** The blocks of an account's sales, read under its lock. */
export class HoldStore {
  readonly #tx: TenantTransaction;

  constructor(tx: TenantTransaction) {
    this.#tx = tx;
  }

  /**
   * The open blocks of these sales, oldest first, each with the amount that it should hold now. Sales without an open
   * block are left out, and so are blocks of a sale that is not recorded whose amount is not known before.
   */
  async openOf(saleIds: readonly string[]): Promise<Map<string, Hold[]>> {
    if (saleIds.length === 0) return new Map();
    await this.#tx.flush();
    const orderBy = { openedAt: 'asc', id: 'asc' } as const;
    const open = await this.#tx.find(
      BlockEntity,
      { saleId: { $in: [...saleIds] }, closedAt: null },
      { orderBy },
    );
    const bySale = Map.groupBy(open, ({ saleId }) => saleId);
    const lost = await this.#lost(new Set(open.filter(isLimitedByRest).map(({ saleId }) => saleId)));
    const sales = await this.#sales([...bySale.keys()], lost);
    const holds = new Map<string, Hold[]>();
    for (const [saleId, blocks] of bySale) {
      const wanted = blocks.flatMap(({ id, reason, sourceId, amountMinor }) => {
        const block = { id, reason, sourceId, amountMinor: amountMinor ?? null };
        const minor = wantedMinor(block, sales.get(saleId)!);
        return minor === undefined ? [] : [{ id, reason, sourceId, wantedMinor: minor }];
      });
      holds.set(saleId, wanted);
    }
    return holds;
  }

  /**
   * How much less an open block of a sale holds than it should, in centavos; undefined if that is not known before the sale
   * is recorded.
   */
  async unmetMinorOf(saleId: string, block: Block, heldMinor: bigint): Promise<bigint | undefined> {
    const holds = (await this.openOf([saleId])).get(saleId);
    const hold = holds?.find((each) => isSameBlock(each, block));
    return hold && hold.wantedMinor - heldMinor;
  }

  /** The lost disputes of amounts of a sale, in the order in which they were lost. */
  async lostDisputesOf(saleId: string): Promise<LostDispute[]> {
    await this.#tx.flush();
    const rows = await this.#tx.execute<{ source_id: string; amount_minor: string; deducted_minor: string }>(
      LOST_DISPUTES,
      { saleId },
    );
    // A source with several blocks, which other teams can set, counts once.
    const bySource = new Map(rows.map((row) => [row.source_id, row]));
    return [...bySource.values()].map((row) => ({
      sourceId: row.source_id,
      amountMinor: BigInt(row.amount_minor),
      deductedMinor: BigInt(row.deducted_minor),
    }));
  }

  /** What is used of a sale now. */
  async saleOf(saleId: string): Promise<UsedSale> {
    await this.#tx.flush();
    const lost = await this.#lost(new Set([saleId]));
    return (await this.#sales([saleId], lost)).get(saleId)!;
  }

  /** The amounts that lost disputes have deducted from these sales, by sale. */
  async #lost(saleIds: ReadonlySet<string>): Promise<Map<string, bigint>> {
    if (saleIds.size === 0) return new Map();
    const rows = await this.#tx.execute<{ id: string; lost_minor: string }>(LOST, { ids: [...saleIds] });
    return new Map(rows.map((row) => [row.id, BigInt(row.lost_minor)]));
  }

  async #sales(ids: readonly string[], lost: ReadonlyMap<string, bigint>): Promise<Map<string, UsedSale>> {
    if (ids.length === 0) return new Map();
    const sales = await this.#tx.find(SaleEntity, { id: { $in: [...ids] } });
    const captured = new Map(sales.map(({ id, grossMinor }) => [id, grossMinor]));
    const debits = await this.#tx.find(RefundDebitEntity, { saleId: { $in: [...ids] }, reversedAt: null });
    const bySale = Map.groupBy(debits, ({ saleId }) => saleId);
    const used = ids.map((id): [string, UsedSale] => {
      const refunds = (bySale.get(id) ?? []).map((debit) => [debit.refundCaseId, debit.amountMinor] as const);
      const lostMinor = lost.get(id) ?? 0n;
      return [id, { capturedMinor: captured.get(id), refundsMinor: new Map(refunds), lostMinor }];
    });
    return new Map(used);
  }
}
