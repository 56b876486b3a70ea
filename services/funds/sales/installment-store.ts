import { jsonRows } from '../../platform/database/json-rows.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { BlockEntity, InstallmentEntity, type InstallmentRow } from '../funds.entity.ts';
import type { InstallmentChange } from '../releases/release-rows.ts';
import { type Installment, type OpenBlock, remainingMinor, statusOf } from './installment.ts';

const PAGE_SIZE = 200;
const NEAREST_FIRST = { date: 'asc', id: 'asc' } as const;
/** The condition of `isFree` in the database. */
const FREE = { status: 'SCHEDULED', reservedFor: null, remainingMinor: { $gt: 0n } } as const;

const INSERT = `
insert into funds.installment
  (merchant_id, environment, id, sale_id, number, part, split, date, gross_minor, fees_minor, deducted_minor,
   advanced_minor, status, released, held_by, version)
select :merchantId, :environment, id, sale_id, number, part, split, date, gross_minor, fees_minor,
       deducted_minor, advanced_minor, status, released, '{}', version
  from json_to_recordset(:rows::json) as i (
    id uuid, sale_id uuid, number int, part int, split boolean, date date, gross_minor bigint,
    fees_minor bigint, deducted_minor bigint, advanced_minor bigint, status text, released boolean,
    version bigint)`;

/** The installments of an account, read and written under its lock. */
export class InstallmentStore {
  readonly #tx: TenantTransaction;

  constructor(tx: TenantTransaction) {
    this.#tx = tx;
  }

  /** The installments of a sale by number and part; empty when there is no such sale. */
  ofSale(saleId: string): Promise<Installment[]> {
    return this.ofSales([saleId]);
  }

  /** The installments of sales, each by number and part. */
  async ofSales(saleIds: readonly string[]): Promise<Installment[]> {
    if (saleIds.length === 0) return [];
    const orderBy = { saleId: 'asc', number: 'asc', part: 'asc' } as const;
    return this.#load(await this.#tx.find(InstallmentEntity, { saleId: { $in: [...saleIds] } }, { orderBy }));
  }

  /** The parts of the changed installments that are not changed themselves. */
  async unchangedParts(changes: readonly InstallmentChange[]): Promise<Installment[]> {
    // An installment that is split only now has no other parts.
    const split = changes.filter(({ before }) => before?.split).map(({ after }) => after);
    if (split.length === 0) return [];
    const changedIds = new Set(changes.map(({ after }) => after.id));
    const installments = new Set(split.map(({ saleId, number }) => `${saleId} ${number}`));
    const saleIds = [...new Set(split.map(({ saleId }) => saleId))];
    const rows = await this.#tx.find(InstallmentEntity, { saleId: { $in: saleIds }, split: true });
    return this.#load(
      rows.filter(({ id, saleId, number }) => installments.has(`${saleId} ${number}`) && !changedIds.has(id)),
    );
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
    const { id, saleId, number, part, date } = installment;
    const state = {
      grossMinor: installment.grossMinor,
      feesMinor: installment.feesMinor,
      split: installment.split,
      deductedMinor: installment.deductedMinor,
      advancedMinor: installment.advancedMinor,
      status: statusOf(installment),
      released: installment.released,
      reservedFor: installment.reservation?.advanceRequestId ?? null,
      reservedMinor: installment.reservation?.amountMinor ?? null,
      heldBy: installment.heldBy.map((block) => block.id),
    };
    if (isNew) {
      const fixed = { id, saleId, number, part, date };
      this.#tx.create(InstallmentEntity, { ...fixed, ...state, version: installment.version });
      return;
    }
    const row = await this.#tx.findOne(InstallmentEntity, { id });
    if (row === null) throw new Error(`installment ${id} does not exist`);
    Object.assign(row, state, { version: row.version + 1n });
  }

  /** Inserts the installments of new sales, which nothing holds or reserves, with one statement. */
  async insertAll(installments: readonly Installment[]): Promise<void> {
    const rows = installments.map((installment) => ({ ...installment, status: statusOf(installment) }));
    await this.#tx.execute(INSERT, { rows: jsonRows(rows) });
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
    const blockIds = [...new Set(rows.flatMap(({ heldBy }) => heldBy))];
    const blocks = blockIds.length > 0 ? await this.#tx.find(BlockEntity, { id: { $in: blockIds } }) : [];
    const byId = new Map(blocks.map(({ id, reason, sourceId }) => [id, { id, reason, sourceId }]));
    return rows.map((row) => installmentOf(row, byId));
  }
}

function installmentOf(row: InstallmentRow, blocks: ReadonlyMap<string, OpenBlock>): Installment {
  const reserved = row.reservedFor != null && row.reservedMinor != null;
  return {
    id: row.id,
    saleId: row.saleId,
    number: row.number,
    part: row.part,
    split: row.split,
    date: row.date,
    grossMinor: row.grossMinor,
    feesMinor: row.feesMinor,
    deductedMinor: row.deductedMinor,
    advancedMinor: row.advancedMinor,
    reservation: reserved ? { advanceRequestId: row.reservedFor!, amountMinor: row.reservedMinor! } : null,
    released: row.released,
    heldBy: row.heldBy.map((id) => blocks.get(id)!),
    version: row.version,
  };
}
