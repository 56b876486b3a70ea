import { expect, vi } from 'vitest';
import type { TestHarness } from '../../../support/harness.ts';
import { sqlOf } from '../../../support/sql.ts';

/** Expects a measurement to read a table, most of whose rows are closed, from these indexes. */
export async function expectIndexesRead(
  harness: TestHarness,
  table: string,
  indexes: readonly string[],
  measure: () => Promise<unknown>,
): Promise<void> {
  await sqlOf(harness, `analyze ${table}`);
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
