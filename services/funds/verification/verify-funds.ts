import type { HandlerContext } from '@connectrpc/connect';
import type { Logger } from 'pino';
import {
  type FundsAccount,
  type FundsDifference,
  FundsInvariant,
  FundsReleaseStatus,
  type FundsVerificationFailure,
  FundsVerificationFailureCause,
  type VerifyFundsRequest,
  type VerifyFundsResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { CrossTenantDatabase } from '../../platform/database/cross-tenant-database.ts';
import type { Database } from '../../platform/database/database.ts';
import { isDatabaseUnavailable, isStatementCanceled } from '../../platform/database/database-errors.ts';
import { parseAll } from '../../platform/request-faults.ts';
import { optionalTenant } from '../../platform/rpc/optional-tenant.ts';
import { type Tenant, tenantOfRow } from '../../platform/tenant.ts';
import { accountMessage, accountPage, requireOneStart } from '../account-pages.ts';
import { selectAccounts } from '../cross-tenant.queries.ts';
import type { DifferenceReadRow } from './difference.sql.ts';
import { type FailedVerification, recordVerification, type Verification } from './failing-account.ts';
import { selectDifferences } from './funds-checks.ts';
import {
  failedAccounts,
  fundsDifferences,
  verificationEnd,
  verifiedAccounts,
} from './verification-metrics.ts';

const ACCOUNTS_PER_CALL = 20;
/** A third of the longest deadline of a call, because the last account may take up to its timeout on top. */
const CALL_BUDGET_MS = 20_000;
/** A longer snapshot would keep vacuum from removing dead rows of every table. */
const ACCOUNT_TIMEOUT_MS = 5_000;
const DIFFERENCES_LOGGED = 10;

export interface VerifyFundsDependencies {
  readonly database: Database;
  readonly db: CrossTenantDatabase;
  readonly logger: Logger;
}

/** Verifies one account, or the next of all accounts: as many as the call has time for, and at least one. */
export async function verifyFunds(
  { database, db, logger }: VerifyFundsDependencies,
  request: VerifyFundsRequest,
  context: HandlerContext,
): Promise<VerifyFundsResponse> {
  const [tenant] = parseAll(
    () => optionalTenant(request, context),
    () => requireOneStart(request),
  );
  const accounts = tenant ? [tenant] : await accountsAfter(database, request.after);
  const endBy = performance.now() + CALL_BUDGET_MS;
  const differences: FundsDifference[] = [];
  const failures: FundsVerificationFailure[] = [];
  let visited = 0;
  for (const account of accounts) {
    if (visited > 0 && (visited === ACCOUNTS_PER_CALL || performance.now() > endBy)) break;
    const result = await verifyAccount(database, account);
    report(logger, account, result);
    await recordVerification(db, account, result);
    if ('cause' in result) failures.push(failureMessage(account, result.cause));
    else differences.push(...result.rows.map((row) => differenceMessage(account, row)));
    visited += 1;
  }
  const last = accounts[visited - 1];
  const next = last && visited < accounts.length ? accountMessage(last) : undefined;
  if (!tenant && !next) verificationEnd.setToCurrentTime();
  return {
    $typeName: 'payments.funds.v1.VerifyFundsResponse',
    differences,
    verifiedAccounts: visited - failures.length,
    failures,
    ...(next && { next }),
  };
}

/** Throws only when the database is unavailable, because then no other account can be verified either. */
async function verifyAccount(database: Database, account: Tenant): Promise<Verification> {
  try {
    const query = selectDifferences(account);
    return { rows: await database.readSnapshot(query, { timeoutMs: ACCOUNT_TIMEOUT_MS }) };
  } catch (error) {
    if (isStatementCanceled(error)) return { cause: 'TIMEOUT', error };
    if (isDatabaseUnavailable(error)) throw error;
    return { cause: 'ERROR', error };
  }
}

/** One more than a call verifies, to know whether there are more. */
async function accountsAfter(database: Database, after: FundsAccount | undefined): Promise<Tenant[]> {
  const rows = await database.read(selectAccounts(accountPage(after, ACCOUNTS_PER_CALL + 1)));
  return rows.map(tenantOfRow);
}

function report(logger: Logger, account: Tenant, verification: Verification): void {
  if ('cause' in verification) {
    const { cause, error } = verification;
    failedAccounts.inc({ cause });
    logger.error({ ...account, cause, err: error }, 'funds of an account could not be verified');
    return;
  }
  const { rows } = verification;
  verifiedAccounts.inc();
  for (const { invariant } of rows) fundsDifferences.inc({ invariant });
  if (rows.length === 0) return;
  const differences = rows.slice(0, DIFFERENCES_LOGGED);
  logger.error({ ...account, differences, count: rows.length }, 'stored and recomputed funds differ');
}

const failureMessage = (account: Tenant, cause: FailedVerification['cause']): FundsVerificationFailure => ({
  $typeName: 'payments.funds.v1.FundsVerificationFailure',
  account: accountMessage(account),
  cause: FundsVerificationFailureCause[cause],
});

function differenceMessage(account: Tenant, row: DifferenceReadRow): FundsDifference {
  return {
    $typeName: 'payments.funds.v1.FundsDifference',
    account: accountMessage(account),
    invariant: FundsInvariant[row.invariant],
    figure: row.figure,
    status: row.status === null ? FundsReleaseStatus.UNSPECIFIED : FundsReleaseStatus[row.status],
    ...(row.date !== null && { date: row.date }),
    ...(row.sale_id !== null && { saleId: row.sale_id }),
    ...(row.installment_id !== null && { installmentId: row.installment_id }),
    ...(row.source_id !== null && { sourceId: row.source_id }),
    expected: row.expected,
    found: row.found,
  };
}
