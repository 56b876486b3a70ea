import type { HandlerContext } from '@connectrpc/connect';
import type { EntityManager } from '@mikro-orm/postgresql';
import type {
  DueReservation,
  ReleaseDueFundsRequest,
  ReleaseDueFundsResponse,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { type CivilDate, civilDateAt, isCivilDate } from '../platform/civil-date.ts';
import type { Database } from '../platform/database/database.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { invalidArgument } from '../platform/errors.ts';
import { unshared } from '../platform/reads/prepared-read.ts';
import { parseAll } from '../platform/request-faults.ts';
import { optionalTenant } from '../platform/rpc/optional-tenant.ts';
import { environmentEnum, type Tenant } from '../platform/tenant.ts';
import { auditRow, recordAudit } from '../platform/writes/audit.ts';
import type { AccountWrites } from './account-writes.ts';
import {
  type DueReservationReadRow,
  selectDueAccounts,
  selectDueReservations,
} from './cross-tenant.queries.ts';
import { FundsAccount } from './funds-account.ts';
import { release, remainingMinor } from './installment.ts';
import { releaseMovements } from './statement/movement.ts';

const ACCOUNTS_PER_CALL = 20;
const INSTALLMENTS_PER_ACCOUNT = 1000;
const RESERVATIONS_PER_CALL = 100;

interface Released {
  readonly installments: number;
  readonly amountMinor: bigint;
}

/**
 * Releases due installments account by account, each in its own transaction. Reserved installments are not released:
 * the response names their advance requests, which are to be refused first.
 */
export async function releaseDueFunds(
  database: Database,
  writes: AccountWrites,
  request: ReleaseDueFundsRequest,
  context: HandlerContext,
): Promise<ReleaseDueFundsResponse> {
  const at = new Date();
  const [asOf, tenant] = parseAll(
    () => asOfDate(request.asOf, civilDateAt(at)),
    () => optionalTenant(request, context),
  );
  const accounts = tenant ? [tenant] : await dueAccounts(database, asOf);
  const released: Released[] = [];
  for (const account of accounts) {
    const work = async (tx: TenantTransaction, em: EntityManager) => {
      const done = await releaseAccount(tx, asOf, at);
      if (tenant || done.installments > 0) await recordAudit(em, [auditRow(account, request, context)]);
      return done;
    };
    released.push(await writes.transaction(account, context, work));
  }
  const due = selectDueReservations({
    merchantId: tenant?.merchantId,
    environment: tenant?.environment,
    upTo: asOf,
    limit: RESERVATIONS_PER_CALL,
  });
  const reservations = await database.read(due);
  const moreAccounts = tenant === undefined && accounts.length === ACCOUNTS_PER_CALL;
  return {
    $typeName: 'payments.funds.v1.ReleaseDueFundsResponse',
    releasedAmountMinor: released.reduce((sum, { amountMinor }) => sum + amountMinor, 0n),
    releasedInstallments: released.reduce((sum, { installments }) => sum + installments, 0),
    dueReservations: reservations.map(dueReservation),
    hasMore: moreAccounts || released.some(({ installments }) => installments === INSTALLMENTS_PER_ACCOUNT),
  };
}

async function releaseAccount(tx: TenantTransaction, asOf: CivilDate, at: Date): Promise<Released> {
  const account = await FundsAccount.lock(tx, at);
  const due = await account.installments.due(asOf, INSTALLMENTS_PER_ACCOUNT);
  const changes = due.map((before) => ({ before, after: release(before) }));
  await account.store(changes, releaseMovements(changes, at));
  return {
    installments: due.length,
    amountMinor: due.reduce((sum, installment) => sum + remainingMinor(installment), 0n),
  };
}

function asOfDate(requested: string | undefined, today: CivilDate): CivilDate {
  if (requested === undefined) return today;
  if (isCivilDate(requested) && requested <= today) return requested;
  throw invalidArgument('INVALID_ARGUMENT', `as_of: must be a date up to ${today}`, { field: 'as_of' });
}

async function dueAccounts(database: Database, asOf: CivilDate): Promise<Tenant[]> {
  // It reads the due releases of all merchants.
  const rows = await database.read(unshared(selectDueAccounts({ upTo: asOf, limit: ACCOUNTS_PER_CALL })));
  return rows.map((row) => ({ merchantId: row.merchant_id, environment: row.environment }));
}

function dueReservation(row: DueReservationReadRow): DueReservation {
  return {
    $typeName: 'payments.funds.v1.DueReservation',
    merchantId: row.merchant_id,
    environment: environmentEnum(row.environment),
    advanceRequestId: row.advance_request_id,
  };
}
