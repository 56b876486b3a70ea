import type { HandlerContext } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type {
  DueReservation,
  ReleaseDueFundsRequest,
  ReleaseDueFundsResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { sumOf } from '../../platform/amounts.ts';
import { type CivilDate, civilDateAt, isCivilDate } from '../../platform/civil-date.ts';
import type { Database } from '../../platform/database/database.ts';
import { isDatabaseUnavailable } from '../../platform/database/database-errors.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { invalidArgument } from '../../platform/errors.ts';
import { onOwnConnection } from '../../platform/reads/prepared-read.ts';
import { parseAll } from '../../platform/request-faults.ts';
import { optionalTenant } from '../../platform/rpc/optional-tenant.ts';
import { environmentEnum, type Tenant, tenantOfRow } from '../../platform/tenant.ts';
import { auditRow, recordAudit } from '../../platform/writes/audit.ts';
import { accountMessage, accountPage, requireOneStart } from '../account-pages.ts';
import type { AccountWrites } from '../account-writes.ts';
import {
  type DueReservationReadRow,
  selectDueAccounts,
  selectDueReservations,
} from '../cross-tenant.queries.ts';
import { FundsAccount } from '../funds-account.ts';
import { release, remainingMinor } from '../sales/installment.ts';
import { releaseMovements } from '../statement/movement.ts';

const ACCOUNTS_PER_CALL = 20;
const INSTALLMENTS_PER_ACCOUNT = 1000;
const RESERVATIONS_PER_CALL = 100;

/** Half of the longest deadline of a call, because the wait for the last account's lock comes on top. */
const CALL_BUDGET_MS = 30_000;

interface ReleaseDependencies {
  readonly database: Database;
  readonly logger: Logger;
  readonly writes: AccountWrites;
}

interface Released {
  readonly installments: number;
  readonly amountMinor: bigint;
}

/**
 * Releases due installments account by account, each in its own transaction. Reserved installments are not released:
 * the response names their advance requests, which are to be refused first.
 */
export async function releaseDueFunds(
  { database, logger, writes }: ReleaseDependencies,
  request: ReleaseDueFundsRequest,
  context: HandlerContext,
): Promise<ReleaseDueFundsResponse> {
  const at = new Date();
  const [asOf, tenant] = parseAll(
    () => asOfDate(request.asOf, civilDateAt(at)),
    () => optionalTenant(request, context),
    () => requireOneStart(request),
  );
  const accounts = tenant ? [tenant] : await dueAccounts(database, asOf, request.after);
  const releaseOne = (account: Tenant) =>
    writes.transaction(account, context, async (tx, em) => {
      const done = await releaseAccount(tx, asOf, at);
      if (tenant || done.installments > 0) await recordAudit(em, [auditRow(account, request, context)]);
      return done;
    });
  const { released, failed } = await releaseEach(accounts, releaseOne, (account, error) => {
    if (tenant || context.signal.aborted || isDatabaseUnavailable(error)) throw error;
    logger.error({ ...account, err: error }, 'funds of an account could not be released');
  });
  const visited = released.length + failed.length;
  const due = selectDueReservations({
    merchantId: tenant?.merchantId,
    environment: tenant?.environment,
    upTo: asOf,
    limit: RESERVATIONS_PER_CALL,
  });
  const reservations = await database.read(due);
  const last = accounts[visited - 1];
  const next = last && visited < accounts.length ? accountMessage(last) : undefined;
  const unfinished = released.filter(({ installments }) => installments === INSTALLMENTS_PER_ACCOUNT);
  return {
    $typeName: 'payments.funds.v1.ReleaseDueFundsResponse',
    releasedAmountMinor: sumOf(released, ({ amountMinor }) => amountMinor),
    releasedInstallments: released.reduce((sum, { installments }) => sum + installments, 0),
    dueReservations: reservations.map(dueReservation),
    hasMore: next !== undefined || unfinished.length > 0,
    ...(next && { next }),
    unfinishedAccounts: unfinished.length,
    failedAccounts: failed.map(accountMessage),
  };
}

/**
 * Releases the funds of as many accounts as the call has time for, and of at least one.
 * @param onFailure throws if no other account can be released either.
 */
async function releaseEach(
  accounts: readonly Tenant[],
  releaseOne: (account: Tenant) => Promise<Released>,
  onFailure: (account: Tenant, error: unknown) => void,
) {
  const endBy = performance.now() + CALL_BUDGET_MS;
  const released: Released[] = [];
  const failed: Tenant[] = [];
  for (const account of accounts.slice(0, ACCOUNTS_PER_CALL)) {
    try {
      released.push(await releaseOne(account));
    } catch (error) {
      onFailure(account, error);
      failed.push(account);
    }
    if (performance.now() > endBy) break;
  }
  return { released, failed };
}

async function releaseAccount(tx: TenantTransaction, asOf: CivilDate, at: Date): Promise<Released> {
  const account = await FundsAccount.lock(tx, at);
  const due = await account.installments.due(asOf, INSTALLMENTS_PER_ACCOUNT);
  const installments = due.map((before) => ({ before, after: release(before) }));
  await account.store({ installments, movements: releaseMovements(installments, at) });
  return { installments: due.length, amountMinor: sumOf(due, remainingMinor) };
}

function asOfDate(requested: string | undefined, today: CivilDate): CivilDate {
  if (requested === undefined) return today;
  if (isCivilDate(requested) && requested <= today) return requested;
  throw invalidArgument('INVALID_ARGUMENT', `as_of: must be a date up to ${today}`, { field: 'as_of' });
}

/** One more than a call releases, to know whether there are more. */
async function dueAccounts(
  database: Database,
  asOf: CivilDate,
  after: ReleaseDueFundsRequest['after'],
): Promise<Tenant[]> {
  const due = selectDueAccounts({ upTo: asOf, ...accountPage(after, ACCOUNTS_PER_CALL + 1) });
  // It reads the due releases of all merchants.
  const rows = await database.read(onOwnConnection(due));
  return rows.map(tenantOfRow);
}

function dueReservation(row: DueReservationReadRow): DueReservation {
  return {
    $typeName: 'payments.funds.v1.DueReservation',
    merchantId: row.merchant_id,
    environment: environmentEnum(row.environment),
    advanceRequestId: row.advance_request_id,
  };
}
