import { afterAll, expect, it, vi } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  ProviderOutcome,
  RefundDebitOutcome,
  RefundInitiator,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { hoursAgo } from '../../support/ago.ts';
import { copyRows } from '../../support/copy-rows.ts';
import { newTenant, startHarness } from '../../support/harness.ts';
import { readMetrics, UNTIL_SCRAPED } from '../../support/scrape.ts';
import { expectIndexesRead } from './queues/indexes-of-open-cases.ts';
import { refundsOf } from './refund-case-fixture.ts';

const HOUR_S = 3_600;

const settings = { SERVICES: 'refunds', REFUND_EXECUTION: 'manual', PROVIDER_SILENT_AFTER: '24h' };
const harness = await startHarness(settings);
afterAll(() => harness.close());

/** A refund that became PROCESSING some hours ago. */
async function processing(hours: number, environment = Environment.LIVE) {
  const merchant = refundsOf(harness, 'inProcess', newTenant(environment));
  const { refunds, write, open } = merchant;
  const occurredAt = hoursAgo(hours);
  const opening = { initiator: RefundInitiator.MERCHANT, paidAt: hoursAgo(hours + 1), occurredAt };
  const { id: refundCaseId } = await open(opening);
  await refunds.startRefund({ ...write(), refundCaseId, occurredAt });
  const outcome = RefundDebitOutcome.DEBITED;
  await refunds.recordRefundDebit({ ...write(), refundCaseId, outcome, occurredAt });
  return {
    report: (outcome: ProviderOutcome) =>
      refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome }),
  };
}

async function sampleOf(name: string, environment: 'live' | 'test'): Promise<number> {
  const lines = (await readMetrics()).split('\n');
  return Number(
    lines.find((line) => line.startsWith(`${name}{environment="${environment}"}`))?.split(' ')[1],
  );
}

/** The refunds that are silent, and for how many hours at most. */
async function silent(environment: 'live' | 'test'): Promise<[refunds: number, hours: number]> {
  const seconds = await sampleOf('payments_refunds_provider_silence_seconds', environment);
  const refunds = await sampleOf('payments_refunds_provider_silent', environment);
  return [refunds, Math.round(seconds / HOUR_S)];
}

/** How many hours ago the oldest refund was debited. */
const oldestHours = async (environment: 'live' | 'test') =>
  Math.round((await sampleOf('payments_refunds_oldest_at_provider_seconds', environment)) / HOUR_S);

const becomes = (environment: 'live' | 'test', expected: [number, number]) =>
  vi.waitFor(async () => expect(await silent(environment)).toEqual(expected), UNTIL_SCRAPED);

it('counts PROCESSING refunds by environment from the last report of the provider on', async () => {
  await becomes('live', [0, 0]);
  await processing(23);
  const oldest = await processing(50);
  const next = await processing(30);
  await processing(40, Environment.TEST);
  await becomes('live', [2, 50]);
  await becomes('test', [1, 40]);
  await oldest.report(ProviderOutcome.SUBMITTED);
  await becomes('live', [1, 30]);
  expect(await oldestHours('live')).toBe(50);
  await next.report(ProviderOutcome.SUCCEEDED);
  await becomes('live', [0, 0]);
  await becomes('test', [1, 40]);
});

it('is read from an index, however many refunds there are', async () => {
  await processing(30);
  await copyRows(harness, 'refunds.refund_case', ['status', 'PROCESSING'], 2_000, { status: 'SUCCEEDED' });
  await expectIndexesRead(
    harness,
    'refunds.refund_case',
    ['refund_case_awaiting_provider', 'refund_case_oldest_at_provider'],
    () => silent('live'),
  );
});
