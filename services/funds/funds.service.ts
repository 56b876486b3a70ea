import type { ServiceImpl } from '@connectrpc/connect';
import type { FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { AreaDependencies } from '../platform/area.ts';
import { CrossTenantDatabase } from '../platform/database/cross-tenant-database.ts';
import { AccountWrites } from './account-writes.ts';
import { applyDeduction } from './apply-deduction.ts';
import { awaitFunding } from './await-funding.ts';
import { blockFunds } from './block-funds.ts';
import { debitForRefund } from './debit-for-refund.ts';
import { endFundingWait } from './end-funding-wait.ts';
import { endRefundExecutions } from './end-refund-executions.ts';
import { findCoveredRefund } from './find-covered-refund.ts';
import { freeReservation } from './free-reservation.ts';
import { getAdvanceExposures } from './get-advance-exposures.ts';
import { getBalance } from './get-balance.ts';
import { getDeduction } from './get-deduction.ts';
import { getDeductions } from './get-deductions.ts';
import { getReleaseCalendar } from './get-release-calendar.ts';
import { getSale } from './get-sale.ts';
import { registerLateReleaseMetrics } from './late-release-metrics.ts';
import { listAdvanceableInstallments } from './list-advanceable-installments.ts';
import { listDebtQueue } from './list-debt-queue.ts';
import { listDebts } from './list-debts.ts';
import { exportFundsReleases, listFundsReleases } from './list-funds-releases.ts';
import { exportReleaseSales, listReleaseSales } from './list-release-sales.ts';
import { exportSales, listSales } from './list-sales.ts';
import { registerOldestHoldMetrics } from './oldest-hold-metrics.ts';
import { registerOverdueDebtMetrics } from './overdue-debt-metrics.ts';
import { recordDebtPayment } from './record-debt-payment.ts';
import { recordSale } from './record-sale.ts';
import { releaseDueFunds } from './release-due-funds.ts';
import { reserveForAdvance } from './reserve-for-advance.ts';
import { reverseDeduction } from './reverse-deduction.ts';
import { reverseRefundDebit } from './reverse-refund-debit.ts';
import { SaleIntake } from './sale-intake.ts';
import { scanDeductions } from './scan-deductions.ts';
import { scanOpenBlocks } from './scan-open-blocks.ts';
import { scanRefundDebits } from './scan-refund-debits.ts';
import { scanReservations } from './scan-reservations.ts';
import { searchSales } from './search-sales.ts';
import { settleReservation } from './settle-reservation.ts';
import { exportMovements } from './statement/export-movements.ts';
import { listMovements } from './statement/list-movements.ts';
import { listSaleMovements } from './statement/list-sale-movements.ts';
import { unblockFunds } from './unblock-funds.ts';
import { listVerificationQueue } from './verification/list-verification-queue.ts';
import { verifyFunds } from './verification/verify-funds.ts';

/** The RPCs of FundsService. */
export function fundsService({
  config,
  database,
  exports,
  logger,
  pagination,
  writes: allWrites,
}: AreaDependencies): ServiceImpl<typeof FundsService> {
  const writes = new AccountWrites(allWrites, database);
  const sales = new SaleIntake(writes);
  const db = new CrossTenantDatabase(database);
  registerLateReleaseMetrics(db);
  const dueAfterMs = config.DEBT_DUE_AFTER;
  registerOverdueDebtMetrics(db, dueAfterMs);
  registerOldestHoldMetrics(db);
  return {
    listFundsReleases: (request) => listFundsReleases(database, pagination, request),
    listReleaseSales: (request) => listReleaseSales(pagination, request),
    getSale: (request) => getSale(database, request),
    listSales: (request) => listSales(database, pagination, request),
    searchSales: (request) => searchSales(database, request),
    getReleaseCalendar: (request) => getReleaseCalendar(database, request),
    getBalance: (request) => getBalance(database, request),
    getAdvanceExposures: (request) => getAdvanceExposures(database, request),
    listDebts: (request) => listDebts(pagination, request),
    listDebtQueue: (request) => listDebtQueue(pagination, dueAfterMs, request),
    getDeduction: (request) => getDeduction(database, request),
    getDeductions: (request) => getDeductions(database, request),
    exportFundsReleases: (request, context) => exportFundsReleases(exports, request, context),
    exportReleaseSales: (request, context) => exportReleaseSales(exports, request, context),
    exportSales: (request, context) => exportSales(exports, request, context),
    listMovements: (request) => listMovements(database, pagination, request),
    listSaleMovements: (request) => listSaleMovements(pagination, request),
    exportMovements: (request, context) => exportMovements(exports, request, context),
    verifyFunds: (request, context) => verifyFunds({ database, db, logger }, request, context),
    listVerificationQueue: (request) => listVerificationQueue(pagination, request),
    scanRefundDebits: (request, context) => scanRefundDebits(database, request, context),
    scanOpenBlocks: (request, context) => scanOpenBlocks(database, request, context),
    scanDeductions: (request, context) => scanDeductions(database, request, context),
    scanReservations: (request, context) => scanReservations(database, request, context),
    listAdvanceableInstallments: (request, context) =>
      listAdvanceableInstallments(database, request, context),
    recordSale: (request, context) => recordSale(writes, sales, request, context),
    recordDebtPayment: (request, context) => recordDebtPayment(writes, request, context),
    applyDeduction: (request, context) => applyDeduction(writes, request, context),
    blockFunds: (request, context) => blockFunds(writes, request, context),
    unblockFunds: (request, context) => unblockFunds(writes, request, context),
    releaseDueFunds: (request, context) => releaseDueFunds({ database, logger, writes }, request, context),
    reserveForAdvance: (request, context) => reserveForAdvance(writes, request, context),
    freeReservation: (request, context) => freeReservation(writes, request, context),
    settleReservation: (request, context) => settleReservation(writes, request, context),
    debitForRefund: (request, context) => debitForRefund(writes, request, context),
    awaitFunding: (request, context) => awaitFunding(writes, request, context),
    endFundingWait: (request, context) => endFundingWait(writes, request, context),
    endRefundExecutions: (request, context) => endRefundExecutions(writes, request, context),
    findCoveredRefund: (request, context) => findCoveredRefund(writes, request, context),
    reverseRefundDebit: (request, context) => reverseRefundDebit(writes, request, context),
    reverseDeduction: (request, context) => reverseDeduction(writes, request, context),
  };
}
