import { sql } from 'kysely';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import type { Tenant } from '../../platform/tenant.ts';
import { DIFFERENCE_COLUMNS, type DifferenceReadRow } from './difference.sql.ts';
import { HOLD_CHECKS } from './hold-checks.sql.ts';
import { INSTALLMENT_CHECKS } from './installment-checks.sql.ts';
import { MOVEMENT_CHECKS } from './movement-checks.sql.ts';
import { POSTING_CHECKS } from './posting-checks.sql.ts';
import { RELEASE_CHECKS } from './release-checks.sql.ts';
import { RESERVATION_CHECKS } from './reservation-checks.sql.ts';

const DIFFERENCES_PER_CHECK = 100;

const TABLES = [
  'sale',
  'installment',
  'block',
  'release',
  'posting',
  'deduction',
  'debt_payment',
  'refund_debit',
  'pending_debit',
  'reservation',
  'movement',
  'balance_day',
];

const CHECKS = [
  ...RELEASE_CHECKS,
  ...INSTALLMENT_CHECKS,
  ...HOLD_CHECKS,
  ...POSTING_CHECKS,
  ...RESERVATION_CHECKS,
  ...MOVEMENT_CHECKS,
]
  .map(
    (check) =>
      `select * from (${check} limit ${DIFFERENCES_PER_CHECK}) as difference (${DIFFERENCE_COLUMNS})`,
  )
  .join('\nunion all\n');

const db = queryBuilder<object>();

/**
 * The differences of an account, at most a hundred of each check. One statement, so that all checks see the account at
 * one moment without locking it. The checks read its tables by their own names; the queries that select its rows are
 * inlined, so nothing is copied.
 */
export const selectDifferences = prepareRead<Tenant, DifferenceReadRow>((parameters) => {
  const tables = TABLES.map(
    (name) => sql`${sql.ref(name)} as not materialized (
      select * from ${sql.table(`funds.${name}`)}
       where merchant_id = ${parameters('merchantId')} and environment = ${parameters('environment')})`,
  );
  return sql<DifferenceReadRow>`with ${sql.join(tables)} ${sql.raw(CHECKS)}`.compile(db);
});
