import type { ServiceImpl } from '@connectrpc/connect';
import type { FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { AreaDependencies } from '../platform/area.ts';
import { CrossTenantDatabase } from '../platform/database/cross-tenant-database.ts';
import { AccountWrites } from './account-writes.ts';
import { freeReservation } from './advances/free-reservation.ts';
import { getAdvanceExposures } from './advances/get-advance-exposures.ts';
import { listAdvanceableInstallments } from './advances/list-advanceable-installments.ts';
import { reserveForAdvance } from './advances/reserve-for-advance.ts';
import { scanReservations } from './advances/scan-reservations.ts';
import { settleReservation } from './advances/settle-reservation.ts';
import { listDebtQueue } from './debts/list-debt-queue.ts';
import { listDebts } from './debts/list-debts.ts';
import { registerOverdueDebtMetrics } from './debts/overdue-debt-metrics.ts';
import { recordDebtPayment } from './debts/record-debt-payment.ts';
import { applyDeduction } from './deductions/apply-deduction.ts';
import { getDeduction } from './deductions/get-deduction.ts';
import { getDeductions } from './deductions/get-deductions.ts';
import { reverseDeduction } from './deductions/reverse-deduction.ts';
import { scanDeductions } from './deductions/scan-deductions.ts';
import { getBalance } from './get-balance.ts';
import { blockFunds } from './holds/block-funds.ts';
import { registerOldestHoldMetrics } from './holds/oldest-hold-metrics.ts';
import { scanOpenBlocks } from './holds/scan-open-blocks.ts';
import { unblockFunds } from './holds/unblock-funds.ts';
import { awaitFunding } from './refunds/await-funding.ts';
import { debitForRefund } from './refunds/debit-for-refund.ts';
import { endFundingWait } from './refunds/end-funding-wait.ts';
import { endRefundExecutions } from './refunds/end-refund-executions.ts';
import { findCoveredRefund } from './refunds/find-covered-refund.ts';
import { reverseRefundDebit } from './refunds/reverse-refund-debit.ts';
import { scanRefundDebits } from './refunds/scan-refund-debits.ts';
import { getReleaseCalendar } from './releases/get-release-calendar.ts';
import { registerLateReleaseMetrics } from './releases/late-release-metrics.ts';
import { exportFundsReleases, listFundsReleases } from './releases/list-funds-releases.ts';
import { exportReleaseSales, listReleaseSales } from './releases/list-release-sales.ts';
import { releaseDueFunds } from './releases/release-due-funds.ts';
import { getSale } from './sales/get-sale.ts';
import { exportSales, listSales } from './sales/list-sales.ts';
import { recordSale } from './sales/record-sale.ts';
import { SaleIntake } from './sales/sale-intake.ts';
import { searchSales } from './sales/search-sales.ts';
import { exportMovements } from './statement/export-movements.ts';
import { listMovements } from './statement/list-movements.ts';
import { listSaleMovements } from './statement/list-sale-movements.ts';
import { listVerificationQueue } from './verification/list-verification-queue.ts';
import { verifyFunds } from './verification/verify-funds.ts';

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
