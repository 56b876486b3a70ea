import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { WaitingDebitEntity } from './funds.entity.ts';

/** A refund that the balance did not cover. Amount in centavos. */
export interface WaitingDebit {
  readonly refundCaseId: string;
  readonly saleId: string | null;
  readonly amountMinor: bigint;
  /** Which execution of the case waits. */
  readonly execution: number;
  /** Of the case: the oldest goes first. */
  readonly requestedAt: Date;
}

/**
 * The oldest waiting debit that is covered: by what is available to all, with what is blocked for its own case. A
 * blocked part is held by every open block of its sale.
 */
const OLDEST_COVERED = `
select waiting.refund_case_id
  from funds.waiting_debit waiting
 where waiting.merchant_id = :merchantId and waiting.environment = :environment
   and waiting.amount_minor <= :available::numeric + coalesce((
         select sum(part.left_minor) from funds.part part
          where part.merchant_id = :merchantId and part.environment = :environment
            and part.sale_id = waiting.sale_id and part.status = 'BLOCKED'
            and exists (select from funds.block block
                         where block.merchant_id = :merchantId and block.environment = :environment
                           and block.sale_id = waiting.sale_id and block.reason = 'REFUND_IN_PROGRESS'
                           and block.source_id = waiting.refund_case_id and block.closed_at is null)), 0)
 order by waiting.requested_at, waiting.refund_case_id limit 1`;

/** The debits of an account that wait for its balance, read and written under its lock. */
export class WaitingDebits {
  readonly #tx: TenantTransaction;

  constructor(tx: TenantTransaction) {
    this.#tx = tx;
  }

  async areThere(): Promise<boolean> {
    return (await this.#tx.findOne(WaitingDebitEntity, {})) !== null;
  }

  /** Has a debit wait; a later execution of the case takes the place of an earlier one. */
  async put(debit: WaitingDebit): Promise<void> {
    const { refundCaseId } = debit;
    const known = await this.#tx.findOne(WaitingDebitEntity, { refundCaseId });
    if (known === null) this.#tx.create(WaitingDebitEntity, debit);
    else if (debit.execution > known.execution) Object.assign(known, debit);
  }

  /** Ends the wait of a case; that of an execution later than the named one goes on. */
  async end(refundCaseId: string, execution = Number.POSITIVE_INFINITY): Promise<void> {
    const known = await this.#tx.findOne(WaitingDebitEntity, { refundCaseId });
    if (known !== null && known.execution <= execution) this.#tx.remove(known);
  }

  /** The case of the oldest debit that `availableMinor`, with what is blocked for the case, covers. */
  async oldestCovered(availableMinor: bigint): Promise<string | undefined> {
    await this.#tx.flush();
    const available = String(availableMinor);
    const [row] = await this.#tx.execute<{ refund_case_id: string }>(OLDEST_COVERED, { available });
    return row?.refund_case_id;
  }
}
