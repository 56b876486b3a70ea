import { expect, vi } from 'vitest';
import { copyRows } from '../../support/copy-rows.ts';
import type { TestHarness } from '../../support/harness.ts';
import { sqlOf } from '../../support/harness-sql.ts';

/** Adds thousands of closed cases, and expects a measurement to read open ones from these indexes. */
export async function expectIndexesRead(
  harness: TestHarness,
  indexes: readonly string[],
  measure: () => Promise<unknown>,
): Promise<void> {
  await copyRows(harness, 'refunds.refund_case', ['status', 'PROCESSING'], 2000, { status: 'SUCCEEDED' });
  await sqlOf(harness, 'analyze refunds.refund_case');
  const scans = () =>
    sqlOf<{ name: string; scans: string }>(
      harness,
      `select indexrelname as name, idx_scan as scans from pg_stat_user_indexes
        where indexrelname = any ($1) order by 1`,
      [indexes],
    );
  const before = await scans();
  expect(before).toHaveLength(indexes.length);
  await vi.waitFor(
    async () => {
      await measure();
      for (const [n, { name, scans: after }] of (await scans()).entries()) {
        expect(Number(after), name).toBeGreaterThan(Number(before[n]!.scans));
      }
    },
    { timeout: 40_000, interval: 500 },
  );
}
