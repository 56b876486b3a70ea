import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { Tenant } from '../../platform/tenant.ts';
import type { DifferenceReadRow } from './difference.sql.ts';
import type { VerificationFailure } from './verification-metrics.ts';

/** A verification that could not be completed. */
export interface FailedVerification {
  readonly cause: VerificationFailure;
  readonly error: unknown;
}

/** The result of the verification of an account. */
export type Verification = { readonly rows: readonly DifferenceReadRow[] } | FailedVerification;

const KEEP: Statement = {
  name: 'keep_failing_account',
  text: `
insert into funds.failing_account as f
  (merchant_id, environment, failing_since, verified_at, cause, differences, invariants)
values (:merchantId, :environment, now(), now(), :cause, :differences, :invariants)
on conflict (merchant_id, environment) do update
   set verified_at = greatest(f.verified_at, excluded.verified_at), cause = excluded.cause,
       differences = excluded.differences, invariants = excluded.invariants`,
};

const REMOVE: Statement = {
  name: 'remove_failing_account',
  text: 'delete from funds.failing_account where merchant_id = :merchantId and environment = :environment',
};

/** Adds an account that fails to the verification queue, and removes one that is verified without a difference. */
export async function recordVerification(
  db: CrossTenantDatabase,
  { merchantId, environment }: Tenant,
  verification: Verification,
): Promise<void> {
  const account = { merchantId, environment };
  if ('cause' in verification) {
    const { cause } = verification;
    await db.run(KEEP, { ...account, cause, differences: 0, invariants: [] });
    return;
  }
  const { rows } = verification;
  if (rows.length === 0) {
    await db.run(REMOVE, account);
    return;
  }
  const invariants = [...new Set(rows.map(({ invariant }) => invariant))];
  await db.run(KEEP, { ...account, cause: null, differences: rows.length, invariants });
}
