import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { failedPrecondition } from '../../platform/errors.ts';
import { EndedExecutionEntity, PendingDebitEntity } from '../funds.entity.ts';
import { TENANT_SCOPE, usedMinorOf } from '../sales/sale-rest.sql.ts';

/** The debit of a refund that the available balance did not cover. Amount in centavos. */
export interface PendingDebit {
  readonly refundCaseId: string;
  readonly saleId: string | null;
  readonly amountMinor: bigint;
  /** The execution of the case that awaits funding. */
  readonly execution: number;
  /** When the case was requested; the oldest case comes first. */
  readonly requestedAt: Date;
}

/** A pending debit that the balance covers. */
type CoveredDebit = Pick<PendingDebit, 'refundCaseId' | 'execution'>;

/**
 * The oldest pending debit that the available balance plus what is held for its case covers, and that is no more than what
 * others have left of its sale, if they have used any of it.
 */
const OLDEST_COVERED = `
select pending.refund_case_id, pending.execution
  from funds.pending_debit pending
 where pending.merchant_id = :merchantId and pending.environment = :environment
   and pending.amount_minor <= :available::numeric + coalesce((
         select sum(installment.remaining_minor)
           from funds.block block join funds.installment installment
             on installment.merchant_id = :merchantId and installment.environment = :environment
            and installment.sale_id = pending.sale_id and block.id = any(installment.held_by)
          where block.merchant_id = :merchantId and block.environment = :environment
            and block.sale_id = pending.sale_id and block.reason = 'REFUND_IN_PROGRESS'
            and block.source_id = pending.refund_case_id and block.closed_at is null), 0)
   and not exists (
         select from funds.sale cross join lateral (select ${usedMinorOf('sale.id', TENANT_SCOPE)} as minor) as used
          where sale.merchant_id = :merchantId and sale.environment = :environment and sale.id = pending.sale_id
            and used.minor > 0 and pending.amount_minor > sale.gross_minor - used.minor)
 order by pending.requested_at, pending.refund_case_id limit 1`;

/** The pending debits and ended executions of an account's refunds, read and written under its lock. */
export class PendingDebits {
  readonly #tx: TenantTransaction;

  constructor(tx: TenantTransaction) {
    this.#tx = tx;
  }

  /** Whether any refund awaits funding. */
  async exist(): Promise<boolean> {
    return (await this.#tx.findOne(PendingDebitEntity, {})) !== null;
  }

  /** Whether this execution of the case awaits funding. */
  async isWaiting(refundCaseId: string, execution: number): Promise<boolean> {
    return (await this.#tx.findOne(PendingDebitEntity, { refundCaseId, execution })) !== null;
  }

  /**
   * Adds a pending debit, or replaces that of an earlier execution. Ends the debit's execution, which can no longer
   * debit.
   */
  async put(debit: PendingDebit): Promise<void> {
    const { refundCaseId, execution } = debit;
    const earlier = await this.#tx.findOne(PendingDebitEntity, { refundCaseId });
    if (earlier === null) this.#tx.create(PendingDebitEntity, debit);
    else Object.assign(earlier, debit);
    await this.#recordEnd(refundCaseId, execution);
  }

  /** Removes the pending debit of a case, unless it belongs to a later execution than the given one. */
  async remove(refundCaseId: string, execution = Number.POSITIVE_INFINITY): Promise<void> {
    const pending = await this.#tx.findOne(PendingDebitEntity, { refundCaseId });
    if (pending !== null && pending.execution <= execution) this.#tx.remove(pending);
  }

  /** Ends the executions of a case up to the given one. */
  async endExecutions(refundCaseId: string, execution: number): Promise<void> {
    await this.remove(refundCaseId, execution);
    await this.#recordEnd(refundCaseId, execution);
  }

  async #recordEnd(refundCaseId: string, execution: number): Promise<void> {
    const ended = await this.#tx.findOne(EndedExecutionEntity, { refundCaseId });
    if (ended === null) this.#tx.create(EndedExecutionEntity, { refundCaseId, execution });
    else if (execution > ended.execution) ended.execution = execution;
  }

  /** FAILED_PRECONDITION (REFUND_EXECUTION_ENDED): the execution awaits funding, or its case has ended. */
  async requireLive(refundCaseId: string, execution: number): Promise<void> {
    const ended = await this.#tx.findOne(EndedExecutionEntity, { refundCaseId });
    if (ended === null || execution > ended.execution) return;
    const message = `execution ${execution} of the refund has ended`;
    throw failedPrecondition('REFUND_EXECUTION_ENDED', message, { state: 'ENDED' });
  }

  /** The oldest pending debit that `availableMinor`, plus what is blocked for the case, covers. */
  async oldestCovered(availableMinor: bigint): Promise<CoveredDebit | undefined> {
    await this.#tx.flush();
    const available = String(availableMinor);
    const [row] = await this.#tx.execute<{ refund_case_id: string; execution: number }>(OLDEST_COVERED, {
      available,
    });
    return row && { refundCaseId: row.refund_case_id, execution: row.execution };
  }
}
