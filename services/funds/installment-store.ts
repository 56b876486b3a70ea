import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { BlockEntity, InstallmentEntity, type InstallmentRow } from './funds.entity.ts';
import { type Block, type Installment, remainingMinor, statusOf } from './installment.ts';

const PAGE_SIZE = 200;
const NEAREST_FIRST = { date: 'asc', id: 'asc' } as const;
/** The condition of `isFree` in the database. */
const FREE = { status: 'SCHEDULED', reservedFor: null, remainingMinor: { $gt: 0n } } as const;

/** The installments of an account, read and written under its lock. */
export class InstallmentStore {
  readonly #tx: TenantTransaction;

  constructor(tx: TenantTransaction) {
    this.#tx = tx;
  }

  /** The installments of a sale by number; empty when there is no such sale. */
  async ofSale(saleId: string): Promise<Installment[]> {
    return this.#load(await this.#tx.find(InstallmentEntity, { saleId }, { orderBy: { number: 'asc' } }));
  }

  /** The installments that an advance request has reserved, nearest date first. */
  async reservedFor(advanceRequestId: string): Promise<Installment[]> {
    const where = { reservedFor: advanceRequestId };
    return this.#load(await this.#tx.find(InstallmentEntity, where, { orderBy: NEAREST_FIRST }));
  }

  /** The installments with these ids; unknown ids are left out. */
  async byIds(ids: readonly string[]): Promise<Installment[]> {
    return this.#load(await this.#tx.find(InstallmentEntity, { id: { $in: [...ids] } }));
  }

  /** Scheduled, unreserved installments up to a date, nearest date first. */
  async due(upTo: string, limit: number): Promise<Installment[]> {
    const where = { status: 'SCHEDULED', reservedFor: null, date: { $lte: upTo } } as const;
    return this.#load(await this.#tx.find(InstallmentEntity, where, { orderBy: NEAREST_FIRST, limit }));
  }

  /** Free installments, nearest date first, as many as cover an amount. */
  free(amountMinor: bigint): Promise<Installment[]> {
    return this.#covering(amountMinor, (offset) =>
      this.#tx.find(InstallmentEntity, FREE, { orderBy: NEAREST_FIRST, limit: PAGE_SIZE, offset }),
    );
  }

  /** Released installments with a remaining amount, oldest first, as many as cover an amount. */
  released(amountMinor: bigint): Promise<Installment[]> {
    const where = { status: 'RELEASED', remainingMinor: { $gt: 0n } } as const;
    return this.#covering(amountMinor, (offset) =>
      this.#tx.find(InstallmentEntity, where, { orderBy: NEAREST_FIRST, limit: PAGE_SIZE, offset }),
    );
  }

  /** Writes an installment as decided by the rules. */
  async put(installment: Installment, isNew: boolean): Promise<void> {
    const { id, saleId, number, date, grossMinor, feesMinor } = installment;
    const state = {
      deductedMinor: installment.deductedMinor,
      advancedMinor: installment.advancedMinor,
      status: statusOf(installment),
      released: installment.released,
      reservedFor: installment.reservation?.advanceRequestId ?? null,
      reservedMinor: installment.reservation?.amountMinor ?? null,
    };
    if (isNew) {
      const fixed = { id, saleId, number, date, grossMinor, feesMinor };
      this.#tx.create(InstallmentEntity, { ...fixed, ...state, version: installment.version });
      return;
    }
    const row = await this.#tx.findOne(InstallmentEntity, { id });
    if (row === null) throw new Error(`installment ${id} does not exist`);
    Object.assign(row, state, { version: row.version + 1n });
  }

  async #covering(
    amountMinor: bigint,
    page: (offset: number) => Promise<InstallmentRow[]>,
  ): Promise<Installment[]> {
    const installments: Installment[] = [];
    let coveredMinor = 0n;
    while (coveredMinor < amountMinor) {
      const rows = await page(installments.length);
      for (const installment of await this.#load(rows)) {
        installments.push(installment);
        coveredMinor += remainingMinor(installment);
      }
      if (rows.length < PAGE_SIZE) break;
    }
    return installments;
  }

  async #load(rows: readonly InstallmentRow[]): Promise<Installment[]> {
    if (rows.length === 0) return [];
    const saleIds = [...new Set(rows.map((row) => row.saleId))];
    const open = await this.#tx.find(BlockEntity, { saleId: { $in: saleIds }, closedAt: null });
    const blocks = Map.groupBy(open, (block) => block.saleId);
    return rows.map((row) => installmentOf(row, blocks.get(row.saleId) ?? []));
  }
}

function installmentOf(row: InstallmentRow, blocks: readonly Block[]): Installment {
  const reserved = row.reservedFor != null && row.reservedMinor != null;
  return {
    id: row.id,
    saleId: row.saleId,
    number: row.number,
    date: row.date,
    grossMinor: row.grossMinor,
    feesMinor: row.feesMinor,
    deductedMinor: row.deductedMinor,
    advancedMinor: row.advancedMinor,
    reservation: reserved ? { advanceRequestId: row.reservedFor!, amountMinor: row.reservedMinor! } : null,
    released: row.released,
    saleBlocks: blocks.map(({ reason, sourceId }) => ({ reason, sourceId })),
    version: row.version,
  };
}
