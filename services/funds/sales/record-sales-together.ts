import { toBinary } from '@bufbuild/protobuf';
import type { EntityManager } from '@mikro-orm/postgresql';
import {
  type RecordSaleResponse,
  RecordSaleResponseSchema,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { type AuditRow, recordAudit } from '../../platform/writes/audit.ts';
import {
  claimUnusedKeys,
  type IdempotencyScope,
  recordResponses,
} from '../../platform/writes/idempotency-records.ts';
import { FundsAccount } from '../funds-account.ts';
import type { NewSale } from './new-sales.ts';
import { recordedOrHeld } from './sale-store.ts';

/** A call that records a sale, until it is settled. */
export interface SaleCall {
  readonly scope: IdempotencyScope;
  readonly sale: NewSale;
  readonly response: RecordSaleResponse;
  readonly audit: AuditRow;
  /** False once the caller has stopped waiting for the answer. */
  isAwaited(): boolean;
}

/**
 * A caller stopped waiting while its sale was being recorded. A sale without an awaited response must not be
 * committed.
 */
export class CallerStoppedWaiting extends Error {
  constructor() {
    super('a caller has stopped waiting');
  }
}

/**
 * Records sales of one account, with different ids and keys, in one transaction, and returns the ids of those recorded.
 * Skips sales that need a transaction of their own; while the account has open debts, that is all of them. If it
 * throws, it has recorded none.
 */
export async function recordSalesTogether(
  tx: TenantTransaction,
  em: EntityManager,
  calls: readonly SaleCall[],
): Promise<Set<string>> {
  const unused = await claimUnusedKeys(
    em,
    calls.map(({ scope }) => scope),
  );
  const account = await FundsAccount.lock(tx, new Date());
  if ((await account.openDebtsMinor()) > 0n) return new Set();
  const claimed = unused.map((index) => calls[index]!).filter(({ isAwaited }) => isAwaited());
  const special = await recordedOrHeld(
    tx,
    claimed.map(({ sale }) => sale.id),
  );
  const plain = claimed.filter(({ sale }) => !special.has(sale.id));
  const recorded = await account.recordSales(plain.map(({ sale }) => sale));
  const answered = plain.filter(({ sale }) => recorded.has(sale.id));
  await recordResponses(
    em,
    answered.map(({ scope, response }) => ({
      scope,
      response: toBinary(RecordSaleResponseSchema, response),
    })),
  );
  await recordAudit(
    em,
    answered.map(({ audit }) => audit),
  );
  if (!answered.every(({ isAwaited }) => isAwaited())) throw new CallerStoppedWaiting();
  return recorded;
}
