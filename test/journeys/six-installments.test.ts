import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type AdvanceRequest, AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { BlockOutcome, BlockReason } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { addDays } from '../../services/platform/civil-date.ts';
import { newMerchant, startGateways } from '../gateway/gateway-harness.ts';
import { call } from '../gateway/http-call.ts';
import { type FundsCaller, fundsCaller } from '../services/funds/funds-caller.ts';
import { verifyFunds } from '../services/funds/verification/verify-funds.ts';
import { centavos, readSections, type Section, type TableRow } from './worked-example.ts';

/**
 * The worked example of the documentation: every title below is a heading there, and every figure there is
 * compared with the public API once the step is done.
 */
const DOCUMENT = new URL('../../docs/funds-worked-example.md', import.meta.url);
const MONTHS = ['2024-10', '2024-11', '2024-12', '2025-01', '2025-02', '2025-03', '2025-04', '2025-05'];

const { HOLD_OR_DISPUTE, REFUND_IN_PROGRESS } = BlockReason;
const [refundCaseId, disputeId] = [randomUUID(), randomUUID()];
let advance: AdvanceRequest;
let sale: Awaited<ReturnType<FundsCaller['sell']>>;

const document = await readSections(DOCUMENT);
const gateways = await startGateways();
afterAll(() => gateways.close());
const { merchantId, keys } = await newMerchant(gateways);
const funds = fundsCaller(gateways.harness.transports.grpc, { merchantId, environment: Environment.LIVE });

describe('a sale in six installments', () => {
  const completedSteps: string[] = [];
  afterEach(async ({ task }) => {
    completedSteps.push(task.name);
    await expectPublicBooks(section(task.name));
    await verifyFunds(gateways.harness);
  });

  it('1. On 21 October 2024 a customer pays 1,000.00 by card in six installments', async () => {
    sale = await funds.sell({ on: '2024-10-21', gross: 100_000n, fees: 3_999n, installments: 6 });
    const documented = table('1.', 'Installment').map((row) => [
      Number(row.Installment),
      row['30 days each'],
      row.Due,
      centavos(row.Gross),
      centavos(row.Fees),
    ]);
    const recorded = sale.installments.map((installment) => [
      installment.number,
      addDays('2024-10-21', 30 * installment.number),
      installment.date,
      Number(installment.grossAmountMinor),
      Number(installment.feesAmountMinor),
    ]);
    expect(recorded).toEqual(documented);
  });

  it('2. On 22 October the merchant takes an advance on the next three installments', async () => {
    const advances = createClient(AdvanceService, gateways.harness.transports.grpc);
    const on = '2024-10-22';
    const { quote } = await advances.quoteAdvance({ ...funds.write(on), maxAmountMinor: 48_000n });
    const documented = table('2.', 'Paid');
    const installments = quote!.installments.map(({ date, days, amountMinor, feeAmountMinor }) =>
      quoted(date, amountMinor, String(days), feeAmountMinor),
    );
    const { amountMinor, feeAmountMinor } = quote!;
    expect([...installments, quoted('Sum', amountMinor, '', feeAmountMinor)]).toEqual(documented);
    const requested = await advances.requestAdvance({ ...funds.write(on), quoteId: quote!.id });
    advance = requested.advanceRequest!;
    await expectAdvance('PENDING_REVIEW');
    await advances.approveAdvance({ ...funds.write(on), advanceRequestId: advance.id });
    await expectAdvance('APPROVED');
    await advances.releaseAdvance({ ...funds.write(on), advanceRequestId: advance.id });
    await expectAdvance('RELEASED');
  });

  it('3. On 4 November the customer requests a refund of 340.00', async () => {
    await funds.block(sale.saleId, refundCaseId, REFUND_IN_PROGRESS, '2024-11-04', 34_000n);
  });

  it('4. On 5 November the refund is paid', async () => {
    await funds.debit(refundCaseId, 34_000n, sale.saleId, '2024-11-05');
    const { RETURNED } = BlockOutcome;
    await funds.unblock(sale.saleId, refundCaseId, RETURNED, REFUND_IN_PROGRESS, '2024-11-05');
  });

  it('5. On 20 November, a holiday, nothing is released; on the 21st the first row is', async () => {
    expect(await funds.releaseDue('2024-11-20')).toMatchObject({ releasedInstallments: 0 });
    expect(await funds.releaseDue('2024-11-21')).toMatchObject({ releasedInstallments: 1 });
  });

  it('6. On 26 November the customer disputes the payment', async () => {
    const held = await funds.block(sale.saleId, disputeId, HOLD_OR_DISPUTE, '2024-11-26');
    expect(held).toMatchObject({ blockedAmountMinor: 14_001n, unmetAmountMinor: 66_000n - 14_001n });
    const february = await calendar('2025-02');
    expect(february.map(documentedDay)).toEqual(table('6.', 'Blocked funds'));
  });

  it('7. On 21 January 2025 the last advanced installment has passed, and the advance is settled', async () => {
    await funds.releaseDue('2025-01-21');
    const advances = createClient(AdvanceService, gateways.harness.transports.grpc);
    await advances.settleAdvance({ ...funds.write('2025-01-21'), advanceRequestId: advance.id });
    await expectAdvance('SETTLED');
  });

  it('8. On 25 February the dispute is won, a week after the date of the blocked funds', async () => {
    const due = await funds.releaseDue('2025-02-18');
    expect(due).toMatchObject({ releasedInstallments: 1, releasedAmountMinor: 0n });
    await funds.unblock(sale.saleId, disputeId, BlockOutcome.RETURNED, HOLD_OR_DISPUTE, '2025-02-25');
  });

  it('9. On 22 April the last row is released', async () => {
    await funds.releaseDue('2025-04-21');
    expect((await releases()).at(-1)).toMatchObject({ date: '2025-04-22', status: 'SCHEDULED' });
    await funds.releaseDue('2025-04-22');
    const rows = await releases();
    const sum = (member: string) => rows.reduce((total, row) => total + Number(row[member]), 0);
    const paidTo = {
      'The service, fees of the sale': sum('feesAllocatedAmountMinor'),
      'The service, fee of the advance': Number(advance.feeAmountMinor),
      'The merchant, as an advance': sum('advancedAmountMinor') - Number(advance.feeAmountMinor),
      'The merchant, released': sum('releasedAmountMinor'),
      'The customer, refunded': sum('deductionsAmountMinor'),
    };
    const total = Object.values(paidTo).reduce((one, other) => one + other);
    const documented = table('9.', 'To').map((row) => [row.To, centavos(row.Amount)]);
    expect([...Object.entries(paidTo), ['Sum', total]]).toEqual(documented);
    expect(total).toBe(100_000);
    expect(await funds.balance()).toMatchObject({ availableAmountMinor: 14_001n, openDebtsAmountMinor: 0n });
    expect(completedSteps).toHaveLength(document.length - 1);
  });
});

function section(title: string): Section {
  const found = document.find((one) => one.title === title);
  if (!found) throw new Error(`the document has no section "${title}"`);
  return found;
}

/** The table of a section that has this column. */
function table(number: string, column: string): readonly TableRow[] {
  const { tables } = document.find(({ title }) => title.startsWith(number))!;
  return tables.find(([row]) => row && column in row)!;
}

/** Expects the list of releases to equal the section's, and each month of the calendar to sum its rows by day. */
async function expectPublicBooks({ tables }: Section): Promise<void> {
  const documented = tables.find(([row]) => row && 'Reasons' in row)!.map(documentedRelease);
  expect(await releases()).toEqual(documented);
  for (const month of MONTHS) {
    const days = Map.groupBy(
      documented.filter(({ date }) => date.startsWith(month)),
      ({ date }) => date,
    );
    expect(await calendar(month)).toEqual([...days].map(([date, rows]) => dayOf(date, rows)));
  }
}

function documentedRelease(row: TableRow) {
  const [gross, fees] = [centavos(row.Gross), centavos(row.Fees)];
  return {
    date: row.Date ?? '',
    status: row.Status,
    originalAmountMinor: gross - fees,
    grossAllocatedAmountMinor: gross,
    feesAllocatedAmountMinor: fees,
    deductionsAmountMinor: centavos(row.Deductions),
    advancedAmountMinor: centavos(row.Advanced),
    blockedAmountMinor: centavos(row.Blocked),
    releasedAmountMinor: centavos(row.Released),
    scheduledAmountMinor: centavos(row.Scheduled),
    salesCount: 1,
    blockedReasons: row.Reasons === '' ? [] : [row.Reasons],
  };
}

function dayOf(date: string, rows: readonly ReturnType<typeof documentedRelease>[]) {
  const sum = (member: `${'released' | 'scheduled' | 'advanced' | 'deductions'}AmountMinor`) =>
    rows.reduce((total, row) => total + row[member], 0);
  return {
    date,
    releasedAmountMinor: sum('releasedAmountMinor'),
    scheduledAmountMinor: sum('scheduledAmountMinor'),
    advancedAmountMinor: sum('advancedAmountMinor'),
    deductionsAmountMinor: sum('deductionsAmountMinor'),
    salesCount: 1,
    hasBlockedFunds: rows.some(({ blockedAmountMinor }) => blockedAmountMinor > 0),
  };
}

type Day = ReturnType<typeof dayOf>;

const reais = (amountMinor: number | bigint) => (Number(amountMinor) / 100).toFixed(2);

const documentedDay = (day: Day): TableRow => ({
  Day: day.date,
  Released: reais(day.releasedAmountMinor),
  Scheduled: reais(day.scheduledAmountMinor),
  Advanced: reais(day.advancedAmountMinor),
  Deductions: reais(day.deductionsAmountMinor),
  Sales: String(day.salesCount),
  'Blocked funds': day.hasBlockedFunds ? 'yes' : 'no',
});

const quoted = (due: string, amountMinor: bigint, days: string, feeMinor: bigint): TableRow => ({
  Due: due,
  Amount: reais(amountMinor),
  Days: days,
  Fee: reais(feeMinor),
  Paid: reais(amountMinor - feeMinor),
});

async function releases(): Promise<Record<string, unknown>[]> {
  return (await get('/v1/funds/releases?limit=100')).data;
}

async function calendar(month: string): Promise<Day[]> {
  return (await get(`/v1/funds/releases/calendar?month=${month}`)).days;
}

/** Expects only this advance request in the public list, with its figures and this status. */
async function expectAdvance(status: string): Promise<void> {
  const sum = table('2.', 'Paid').at(-1)!;
  expect((await get('/v1/advance/requests')).data).toMatchObject([
    {
      id: advance.id,
      status,
      amount: centavos(sum.Amount),
      feeAmount: centavos(sum.Fee),
      netAmount: centavos(sum.Paid),
    },
  ]);
}

async function get(path: string) {
  const { status, json } = await call(gateways.ports.live, path, { key: keys.live });
  expect(status).toBe(200);
  return json;
}
