import type { Logger } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Run } from '../../../../services/platform/database/cross-tenant-database.ts';
import { EndpointStatistics } from '../../../../services/webhooks/health/endpoint-statistics.ts';

/** Statistics whose first statements fail with these errors, which PostgreSQL cannot be made to have; the others succeed. */
function failingWith(...failures: Error[]) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const stored: string[] = [];
  const run: Run = async (_statement, parameters = {}) => {
    const error = failures.shift();
    if (error) throw error;
    stored.push(String(parameters.healths));
    return [];
  };
  const logger = { warn: vi.fn(), error: vi.fn() };
  const statistics = new EndpointStatistics(run, logger as unknown as Logger);
  return { statistics, logger, stored };
}

const failed = () => ({ endedAt: new Date(), httpStatus: 503 });

it('counts that the database rejects are given up, and do not stop later ones', async () => {
  const rejected = Object.assign(new Error('integer out of range'), { code: '22003' });
  const { statistics, logger, stored } = failingWith(rejected, rejected, rejected);
  statistics.add('poison', 1n, failed());
  await vi.advanceTimersByTimeAsync(1_500);
  expect(logger.error).toHaveBeenCalledOnce();
  for (const shop of ['one', 'two', 'three']) {
    statistics.add(shop, 1n, failed());
    await vi.advanceTimersByTimeAsync(1_500);
  }
  expect(stored).toEqual([expect.stringContaining('three')]);
});
