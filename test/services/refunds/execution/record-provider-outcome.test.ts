import { Code } from '@connectrpc/connect';
import { afterAll, expect, it } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { ProviderOutcome } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant, startHarness } from '../../../support/harness.ts';
import { scrape } from '../../../support/scrape.ts';
import { refundsOf } from '../refund-case-fixture.ts';

const { FAILED, REFUSED, SUBMITTED, SUCCEEDED } = ProviderOutcome;

const harness = await startHarness({ SERVICES: 'refunds,funds', REFUND_EXECUTION: 'manual' });
afterAll(() => harness.close());

async function contradictions(environment: 'live' | 'test'): Promise<number> {
  return (await scrape())(`payments_refunds_contradicted_total{environment="${environment}"}`)!;
}

it('counts the reported success of a refund that has failed or was never debited', async () => {
  const { refunds, write, open, processing } = refundsOf(harness, 'inProcess', newTenant(Environment.LIVE));
  const report = async (refundCaseId: string, outcome: ProviderOutcome) => {
    await refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome });
  };
  const isRefused = (refundCaseId: string, outcome: ProviderOutcome) =>
    expectRefusal(report(refundCaseId, outcome), Code.FailedPrecondition, 'REFUND_CASE_STATE');
  const before = await contradictions('live');
  const inTest = await contradictions('test');

  const { id: paid } = await processing();
  await report(paid, SUBMITTED);
  await report(paid, SUCCEEDED);
  await isRefused(paid, SUCCEEDED);
  await isRefused(paid, REFUSED);
  const { id: failed } = await processing();
  await report(failed, FAILED);
  await isRefused(failed, FAILED);
  await report(failed, SUBMITTED);
  expect(await contradictions('live')).toBe(before);

  await isRefused(failed, SUCCEEDED);
  expect(await contradictions('live')).toBe(before + 1);
  await report(paid, FAILED);
  await isRefused(paid, SUCCEEDED);
  const { id: canceled } = await open();
  await refunds.cancelRefundCase({ ...write(), refundCaseId: canceled });
  await isRefused(canceled, SUCCEEDED);
  expect(await contradictions('live')).toBe(before + 3);
  expect(await contradictions('test')).toBe(inTest);
});
