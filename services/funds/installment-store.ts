import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { BlockEntity, PartEntity, type PartRow } from './funds.entity.ts';
import { type Block, leftMinor, type Part, statusOf } from './installment.ts';

const PAGE_SIZE = 200;
const NEAREST_FIRST = { date: 'asc', id: 'asc' } as const;
/** In the database what `isFree` says of a part. */
const FREE = { status: 'SCHEDULED', reservedFor: null, leftMinor: { $gt: 0n } } as const;

/** The parts of an account, read and written under its lock. */
export class PartStore {
  readonly #tx: TenantTransaction;

  constructor(tx: TenantTransaction) {
    this.#tx = tx;
  }

  /** The parts of a sale in the order of their instalments; none when there is no such sale. */
  async ofSale(saleId: string): Promise<Part[]> {
    return this.#parts(await this.#tx.find(PartEntity, { saleId }, { orderBy: { installment: 'asc' } }));
  }

  /** The parts that an advance request has reserved, nearest first. */
  async reservedFor(advanceRequestId: string): Promise<Part[]> {
    const rows = await this.#tx.find(
      PartEntity,
      { reservedFor: advanceRequestId },
      { orderBy: NEAREST_FIRST },
    );
    return this.#parts(rows);
  }

  /** Those of the named parts that there are. */
  async named(ids: readonly string[]): Promise<Part[]> {
    return this.#parts(await this.#tx.find(PartEntity, { id: { $in: [...ids] } }));
  }

  /** Scheduled parts up to a date that no advance has reserved, nearest first, at most so many. */
  async due(upTo: string, limit: number): Promise<Part[]> {
    const where = { status: 'SCHEDULED', reservedFor: null, date: { $lte: upTo } } as const;
    return this.#parts(await this.#tx.find(PartEntity, where, { orderBy: NEAREST_FIRST, limit }));
  }

  /** Free parts, nearest first, as many as cover an amount. */
  free(coverMinor: bigint): Promise<Part[]> {
    return this.#covering(coverMinor, (offset) =>
      this.#tx.find(PartEntity, FREE, { orderBy: NEAREST_FIRST, limit: PAGE_SIZE, offset }),
    );
  }

  /** Released parts with something left, oldest first, as many as cover an amount. */
  released(coverMinor: bigint): Promise<Part[]> {
    const where = { status: 'RELEASED', leftMinor: { $gt: 0n } } as const;
    return this.#covering(coverMinor, (offset) =>
      this.#tx.find(PartEntity, where, { orderBy: NEAREST_FIRST, limit: PAGE_SIZE, offset }),
    );
  }

  /** Writes a part as the rules left it. */
  async put(part: Part, isNew: boolean): Promise<void> {
    const { id, saleId, installment, date, grossMinor, feesMinor } = part;
    const state = {
      deductedMinor: part.deductedMinor,
      advancedMinor: part.advancedMinor,
      status: statusOf(part),
      released: part.released,
      reservedFor: part.reservation?.advanceRequestId ?? null,
      reservedMinor: part.reservation?.amountMinor ?? null,
    };
    if (isNew) {
      const fixed = { id, saleId, installment, date, grossMinor, feesMinor };
      this.#tx.create(PartEntity, { ...fixed, ...state, version: part.version });
      return;
    }
    const row = await this.#tx.findOne(PartEntity, { id });
    if (row === null) throw new Error(`part ${id} is not there`);
    Object.assign(row, state, { version: row.version + 1n });
  }

  async #covering(coverMinor: bigint, page: (offset: number) => Promise<PartRow[]>): Promise<Part[]> {
    const parts: Part[] = [];
    let coveredMinor = 0n;
    while (coveredMinor < coverMinor) {
      const rows = await page(parts.length);
      for (const part of await this.#parts(rows)) {
        parts.push(part);
        coveredMinor += leftMinor(part);
      }
      if (rows.length < PAGE_SIZE) break;
    }
    return parts;
  }

  async #parts(rows: readonly PartRow[]): Promise<Part[]> {
    if (rows.length === 0) return [];
    const saleIds = [...new Set(rows.map((row) => row.saleId))];
    const open = await this.#tx.find(BlockEntity, { saleId: { $in: saleIds }, closedAt: null });
    const blocks = Map.groupBy(open, (block) => block.saleId);
    return rows.map((row) => partOf(row, blocks.get(row.saleId) ?? []));
  }
}

function partOf(row: PartRow, blocks: readonly Block[]): Part {
  const reserved = row.reservedFor != null && row.reservedMinor != null;
  return {
    id: row.id,
    saleId: row.saleId,
    installment: row.installment,
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
