import { randomUUID } from 'node:crypto';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { BlockOutcome, BlockReason } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { DisputeOutcome } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { fundsCaller } from '../../../services/funds/funds-caller.ts';
import { refundsOf } from '../../../services/refunds/refund-case-fixture.ts';
import { newTenant } from '../../../support/harness.ts';
import { sharedDashboard } from '../dashboard-fixture.ts';
import { minorOf, readCsv } from '../exports/read-csv.ts';
import { textOf } from '../page-text.ts';

const JUNE = 'from=2026-06-01&to=2026-06-30';

const fixture = await sharedDashboard();

/**
 * A merchant with disputes that were opened in June: one is open, one was won, one lost what it held, one left a debt, and one was
 * reversed after its debt was paid by other means in part. Another one of May was lost in June.
 */
async function merchantWithDisputes() {
  const tenant = newTenant();
  const { merchantId } = tenant;
  const { client, write: post, ...funds } = fundsCaller(fixture.transport, tenant);
  const { refunds, write } = refundsOf(fixture.harness, 'inProcess', tenant);
  const open = async (on: string, amountMinor: bigint | undefined, saleId?: string) => {
    const ids = { disputeId: randomUUID(), paymentIntentId: randomUUID(), saleId };
    const occurredAt = timestampFromDate(new Date(`${on}T15:00:00Z`));
    const { dispute } = await refunds.openDispute({ ...write(), ...ids, amountMinor, occurredAt });
    return dispute!.id;
  };
  const close = (disputeId: string, outcome: DisputeOutcome) =>
    refunds.closeDispute({ ...write(), disputeId, outcome });
  const { saleId } = await funds.sell({ on: '2026-05-02', gross: 10_000n, instant: true });
  const held = async (on: string, amountMinor: bigint) => {
    const id = await open(on, amountMinor, saleId);
    await funds.block(saleId, id, BlockReason.HOLD_OR_DISPUTE, on, amountMinor);
    return id;
  };
  const ofMay = await held('2026-05-30', 100n);
  const lost = await held('2026-06-10', 2_000n);
  const won = await held('2026-06-11', 300n);
  await held('2026-06-12', 40n);
  await close(won, DisputeOutcome.WON);
  await funds.unblock(saleId, won, BlockOutcome.RETURNED, BlockReason.HOLD_OR_DISPUTE, '2026-06-14');
  for (const id of [ofMay, lost]) {
    await close(id, DisputeOutcome.LOST);
    await funds.unblock(saleId, id, BlockOutcome.CONSUMED, BlockReason.HOLD_OR_DISPUTE, '2026-06-15');
  }
  const deducted = async (on: string, amountMinor: bigint) => {
    const id = await open(on, amountMinor);
    await close(id, DisputeOutcome.LOST);
    await client.applyDeduction({ ...post(on), sourceId: id, amountMinor });
    return id;
  };
  // The oldest debt is paid first.
  const reversed = await deducted('2026-06-20', 700n);
  await deducted('2026-06-21', 9_000n);
  const paid = { paymentId: randomUUID(), amountMinor: 500n };
  await client.recordDebtPayment({ ...post('2026-06-22'), ...paid });
  await refunds.reverseDispute({ ...write(), disputeId: reversed });
  await client.reverseDeduction({ ...post('2026-06-23'), sourceId: reversed });
  const visitor = await fixture.signIn({ [merchantId]: Role.VIEWER });
  return { visitor, live: `/live/${merchantId}`, reversed };
}

it('shows the totals of disputes, which link to them and match their file and the statement', async () => {
  const { visitor, live } = await merchantWithDisputes();
  const file = async (path: string) => readCsv((await visitor.get(`${live}${path}`)).text, 'br');
  const { document } = await visitor.get(`${live}/funds/reconcile?${JUNE}`);
  const rows = document.querySelectorAll('section[aria-labelledby="disputes"] tbody tr');
  const seen = rows.map((row) => row.querySelectorAll('td').map(textOf));
  const [disputes, all, statement] = [
    await file(`/disputes.csv?${JUNE}`),
    await file('/disputes.csv?'),
    await file('/funds/statement.csv?from=2026-05-01&to=2026-06-30'),
  ];
  for (const { line, dispute_id, status, deducted_amount } of all) {
    if (line !== 'item') continue;
    const changes = statement.filter(({ source_id }) => source_id === dispute_id);
    expect(changes.length, status).toBeGreaterThan(0);
    const changed = changes.reduce((sum, row) => sum + minorOf(row.total_change!), 0n);
    expect(minorOf(deducted_amount || '0,00'), status).toBe(-changed);
  }
  expect(seen).toEqual([
    ['Open', '1', 'R$0.40', 'R$0.00'],
    ['Won', '1', 'R$3.00', 'R$0.00'],
    ['Lost', '2', 'R$110.00', 'R$110.00'],
    ['Reversed', '1', 'R$7.00', 'R$5.00'],
    ['Total', '5', 'R$120.40', 'R$115.00'],
  ]);
  const total = disputes.at(-1)!;
  expect([total.line, total.amount]).toEqual(['total', '120,40']);
  expect(minorOf(total.deducted_amount!)).toBe(11_500n);
  for (const [index, count] of [1, 1, 2, 1].entries()) {
    const page = await visitor.get(rows[index]!.querySelector('a')!.getAttribute('href')!);
    expect(
      page.document.querySelectorAll('#disputes tbody tr, [data-live="disputes"] tbody tr'),
    ).toHaveLength(count);
  }
  expect((await visitor.get(`${live}/disputes?from=2026-06-30&to=2026-06-01`)).status).toBe(422);
});

it('links a returned deduction to its dispute, also in a period without the deduction', async () => {
  const { visitor, live, reversed } = await merchantWithDisputes();
  const { document } = await visitor.get(`${live}/funds/statement?from=2026-06-23&to=2026-06-23`);
  const link = document.querySelector('section[aria-labelledby="movements"] tbody a')!;
  expect([textOf(link), link.getAttribute('href')]).toEqual([
    'Deduction returned',
    `${live}/disputes/${reversed}`,
  ]);
});

it('leads from a period to the whole months before and after it', async () => {
  const merchantId = randomUUID();
  const visitor = await fixture.signIn({ [merchantId]: Role.VIEWER });
  const page = `/live/${merchantId}/funds/reconcile`;
  const months = async (range: string) => {
    const { document } = await visitor.get(`${page}?${range}`);
    const links = document.querySelectorAll('nav[aria-label="Months"] a');
    return links.map((link) => [textOf(link), link.getAttribute('href')]);
  };
  expect(await months('from=2026-03-10&to=2026-05-20')).toEqual([
    ['← February 2026', `${page}?from=2026-02-01&to=2026-02-28`],
    ['June 2026 →', `${page}?from=2026-06-01&to=2026-06-30`],
  ]);
  expect(await months('to=9999-11-30')).toEqual([
    ['← October 9999', `${page}?from=9999-10-01&to=9999-10-31`],
  ]);
});
