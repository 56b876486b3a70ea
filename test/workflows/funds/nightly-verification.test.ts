import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { scheduleId, workflowType } from '../../../workflows/funds/nightly-verification.contract.ts';
import { ensureSchedules } from '../../../workflows/schedules.ts';
import { fundsCaller } from '../../services/funds/funds-caller.ts';
import { sqlOf } from '../../support/sql.ts';
import { TEMPORAL_START_MS } from '../../support/temporal.ts';
import { startFundsWorkflows } from './funds-workflows.ts';

/** More than one call verifies. */
const ACCOUNTS = 25;
/** Two rows, each off in its fees and in what is left, and the balance that their movements lead to. */
const DIFFERENCES = 5;

let workflows: Awaited<ReturnType<typeof startFundsWorkflows>>;
beforeAll(async () => {
  workflows = await startFundsWorkflows();
}, TEMPORAL_START_MS);
afterAll(() => workflows.close());

it('verifies every account, and counts the differences', async () => {
  const { harness, run } = workflows;
  const accounts = Array.from({ length: ACCOUNTS }, () => fundsCaller(harness.transports.inProcess));
  await Promise.all(
    accounts.map((account) => account.sell({ on: '2020-06-20', gross: 100n, installments: 2 })),
  );
  expect(await run(workflowType, 'verification-1')).toEqual({
    verifiedAccounts: ACCOUNTS,
    differences: 0,
    failedAccounts: 0,
  });
  const last = accounts
    .map(({ tenant }) => tenant.merchantId)
    .sort()
    .at(-1);
  const corrupt = 'update funds.release set fees_minor = 1 where merchant_id = $1';
  await sqlOf(harness, corrupt, [last]);
  const found = await run(workflowType, 'verification-2');
  expect(found).toEqual({ verifiedAccounts: ACCOUNTS, differences: DIFFERENCES, failedAccounts: 0 });
});

it('continues where the previous run ended', async () => {
  const { harness, run } = workflows;
  const [{ merchant_id: merchantId } = { merchant_id: '' }] = await sqlOf<{ merchant_id: string }>(
    harness,
    'select merchant_id from funds.account order by merchant_id offset 20 limit 1',
  );
  const position = {
    after: { merchantId, environment: 'live' },
    verifiedAccounts: 21,
    differences: 7,
    failedAccounts: 2,
  };
  const found = await run(workflowType, 'verification-3', position);
  expect(found).toEqual({ verifiedAccounts: ACCOUNTS, differences: 7 + DIFFERENCES, failedAccounts: 2 });
});

it('continues after an account that cannot be verified', async () => {
  const { harness, run } = workflows;
  const broken = fundsCaller(harness.transports.inProcess);
  await broken.sell({ on: '2020-06-20', gross: 100n });
  await sqlOf(harness, 'alter table funds.sale drop constraint sale_installments_check');
  const setInstallments = 'update funds.sale set installments = $2 where merchant_id = $1';
  await sqlOf(harness, setInstallments, [broken.tenant.merchantId, 0]);
  expect(await run(workflowType, 'verification-4')).toEqual({
    verifiedAccounts: ACCOUNTS,
    differences: DIFFERENCES,
    failedAccounts: 1,
  });
  await sqlOf(harness, setInstallments, [broken.tenant.merchantId, 1]);
});

it('is started by Temporal every night, after the daily release', async () => {
  const { temporal } = workflows;
  await ensureSchedules(temporal.client, vi.fn());
  await ensureSchedules(temporal.client, vi.fn());
  const schedule = temporal.client.schedule.getHandle(scheduleId);
  const { spec, info } = await schedule.describe();
  expect(spec.timezone).toBe('America/Sao_Paulo');
  expect(info.nextActionTimes[0]?.toISOString()).toMatch(/T07:01:00.000Z$/);
  await schedule.trigger();
  const ended = async () => {
    const { recentActions } = (await schedule.describe()).info;
    const { workflow } = recentActions[0]!.action;
    const handle = temporal.client.workflow.getHandle(workflow.workflowId);
    expect(await handle.result()).toEqual({
      verifiedAccounts: ACCOUNTS + 1,
      // The first run of the daily release, which the Schedules have begun too, computes the corrupt rows anew.
      differences: expect.any(Number),
      failedAccounts: 0,
    });
  };
  await vi.waitFor(ended, { timeout: 40_000, interval: 200 });
  await schedule.delete();
});
