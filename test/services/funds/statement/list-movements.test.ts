import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { expect, it, vi } from 'vitest';
import {
  BlockOutcome,
  BlockReason,
  type Movement,
  MovementKind,
} from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { describeList, describePlans, sharedListHarness } from '../../../support/list-suite.ts';
import { sqlOf } from '../../../support/sql.ts';
import { fundsCaller } from '../funds-caller.ts';
import { movementList } from './movement-list.ts';
import { expectStatement, exported, listed, partsOf } from './observed-statement.ts';

const { harness, statements } = sharedListHarness('funds');

describeList('ListMovements', () => movementList(harness()));

describePlans(
  () => movementList(harness()),
  statements,
  [
    ['', 'movement_order'],
    ['from', 'movement_order'],
    ['to', 'movement_order'],
  ],
  'funds.movement',
);

const textOf = ({ kind, change, releaseDate, blockReason }: Movement) =>
  [MovementKind[kind], ...partsOf(change), releaseDate, BlockReason[blockReason]]
    .filter((part) => part !== undefined && part !== 'UNSPECIFIED')
    .join(' ');

it('names the cause of each change of the balances, on the date on which it took effect', async () => {
  const caller = fundsCaller(harness().transports.inProcess);
  const [advance, dispute, lost, refund] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const DISPUTE = BlockReason.HOLD_OR_DISPUTE;
  const card = await caller.sell({
    on: '2020-06-01',
    gross: 3_030n,
    fees: 30n,
    installments: 3,
    sold: { orderNumber: 'R-1043' },
  });
  const pix = await caller.sell({ on: '2020-06-02', gross: 500n, instant: true });
  await caller.block(pix.saleId, dispute, DISPUTE, '2020-06-03', 200n);
  await caller.unblock(pix.saleId, dispute, BlockOutcome.RETURNED, DISPUTE, '2020-06-04');
  await caller.block(pix.saleId, refund, BlockReason.REFUND_IN_PROGRESS, '2020-06-05', 100n);
  await caller.debit(refund, 100n, pix.saleId, '2020-06-06');
  await caller.reverse(refund, '2020-06-07');
  await caller.unblock(
    pix.saleId,
    refund,
    BlockOutcome.RETURNED,
    BlockReason.REFUND_IN_PROGRESS,
    '2020-06-08',
  );
  await caller.block(pix.saleId, lost, DISPUTE, '2020-06-09', 150n);
  await caller.unblock(pix.saleId, lost, BlockOutcome.CONSUMED, DISPUTE, '2020-06-10');
  const { installments } = await caller.advanceable('2020-06-11');
  await caller.reserve(installments.slice(-1), advance, '2020-06-11');
  await caller.settle(advance, '2020-06-12');
  await caller.deduct(2_700n, card.saleId, '2020-06-13');
  const other = await caller.sell({ on: '2020-06-14', gross: 1_000n });
  await caller.releaseDue('2020-08-01');

  const statement = await exported(caller);
  const june = statement.movements.filter(({ kind }) => kind !== MovementKind.RELEASE);
  expect(june.map(textOf)).toEqual([
    'SALE 0 3000 0',
    'SALE 500 0 0',
    'BLOCK -200 0 200 HOLD_OR_DISPUTE',
    'UNBLOCK 200 0 -200 HOLD_OR_DISPUTE',
    'BLOCK -100 0 100 REFUND_IN_PROGRESS',
    'REFUND 0 0 -100',
    'REFUND_REVERSAL 100 0 0',
    'BLOCK -100 0 100 REFUND_IN_PROGRESS',
    'UNBLOCK 100 0 -100 REFUND_IN_PROGRESS',
    'BLOCK -150 0 150 HOLD_OR_DISPUTE',
    'CONSUMPTION 0 0 -150 HOLD_OR_DISPUTE',
    'ADVANCE 0 -1000 0',
    'DEDUCTION -700 -2000 0',
    'SALE 0 1000 0',
    'DEBT_COLLECTION 700 -700 0',
  ]);
  expect(june[0]).toMatchObject({ sourceId: card.saleId, saleId: card.saleId, orderNumber: 'R-1043' });
  expect(june[5]).toMatchObject({ sourceId: refund, saleId: pix.saleId });
  const [release] = statement.movements.filter(({ kind }) => kind === MovementKind.RELEASE);
  expect(textOf(release!)).toBe(`RELEASE 300 -300 0 ${other.installments[0]!.date}`);
  // Released long after its date: it takes effect at the start of that day.
  const midnight = new Date(`${release!.releaseDate}T03:00:00Z`);
  expect(Number(release!.occurredAt!.seconds)).toBe(midnight.getTime() / 1_000);
  expect((await listed(caller)).totals.map(({ kind, count }) => [kind, Number(count)])).toContainEqual([
    MovementKind.BLOCK,
    4,
  ]);
  await expectStatement(caller);
});

it('keeps each reason of a raised deduction once, also one with a semicolon, in at most 1,000 characters', async () => {
  const { client, tenant, write } = fundsCaller(harness().transports.inProcess);
  const sourceId = randomUUID();
  let amountMinor = 0n;
  const long = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(200));
  for (const reason of ['Fee; July', 'Fee; July', 'July', 'Fee; July', 'Jul', ...long, 'e'.repeat(200)]) {
    amountMinor += 10n;
    await client.applyDeduction({ ...write(), sourceId, amountMinor, raise: true, reason });
  }
  const { reason } = await client.getDeduction({ ...tenant, sourceId });
  expect(reason).toBe(['Fee; July', 'Jul', ...long].join('; '));
});

it('returns the reason of a deduction with all that it moves and with its debt, to its merchant only', async () => {
  const caller = fundsCaller(harness().transports.inProcess);
  const { client, tenant, write } = caller;
  const sourceId = randomUUID();
  const deduction = { ...write('2020-06-02'), sourceId, amountMinor: 90n, reason: 'Chargeback fee <July>' };
  await client.applyDeduction(deduction);
  await client.applyDeduction(deduction);
  const changed = client.applyDeduction({ ...deduction, reason: 'Another' });
  await expectRefusal(changed, Code.AlreadyExists, 'IDEMPOTENCY_KEY_REUSED');
  const raised = { ...write('2020-06-03'), sourceId, amountMinor: 100n, raise: true, reason: 'Another' };
  await client.applyDeduction(raised);
  await client.applyDeduction({ ...raised, ...write('2020-06-03'), amountMinor: 110n });
  const { reason: reasonOfBoth } = await client.getDeduction({ ...tenant, sourceId });
  expect(reasonOfBoth).toBe('Chargeback fee <July>; Another');
  await client.applyDeduction({ ...write('2020-06-03'), sourceId: randomUUID(), amountMinor: 7n });
  const others = [
    fundsCaller(harness().transports.inProcess, { ...tenant, environment: Environment.TEST }),
    fundsCaller(harness().transports.inProcess),
  ];
  for (const other of others) {
    await other.client.applyDeduction({ ...other.write('2020-06-02'), sourceId, amountMinor: 90n });
    const { debts } = await other.client.listDebts(other.tenant);
    expect([debts[0]?.sourceId, debts[0]?.reason]).toEqual([sourceId, undefined]);
    expect((await listed(other)).movements.map(({ reason }) => reason)).toEqual([undefined]);
  }
  const { debts } = await client.listDebts(tenant);
  expect(debts.map(({ reason }) => reason)).toEqual([reasonOfBoth, undefined]);
  await caller.sell({ on: '2020-06-04', gross: 50n });
  await client.reverseDeduction({ ...write('2020-06-05'), sourceId });
  const reasons = [
    'DEDUCTION',
    'DEDUCTION',
    'DEDUCTION',
    'DEDUCTION without',
    'SALE without',
    'DEBT_COLLECTION',
    'DEDUCTION_REVERSAL',
  ];
  const seen = ({ kind, reason }: Movement) =>
    MovementKind[kind] + (reason === reasonOfBoth ? '' : ` ${reason ?? 'without'}`);
  expect((await listed(caller)).movements.map(seen).slice(0, 7)).toEqual(reasons);
  await expectStatement(caller);
  for (const reason of ['', 'x'.repeat(201)]) {
    const refused = client.applyDeduction({ ...write(), sourceId: randomUUID(), amountMinor: 1n, reason });
    await expectRefusal(refused, Code.InvalidArgument, 'INVALID_ARGUMENT', { field: 'reason' });
  }
});

it("exports a consistent snapshot at its reader's pace, is audited, and limits concurrent exports", async () => {
  const caller = fundsCaller(harness().transports.inProcess);
  const { client, tenant } = caller;
  await caller.deduct(1n, undefined, '2020-06-01');
  const copy = `insert into funds.movement select merchant_id, environment, gen_random_uuid(), kind, source_id, sale_id,
      release_date, block_reason, available_minor, scheduled_minor, blocked_minor, occurred_at + n * interval '1 ms'
    from funds.movement, generate_series(1, 4999) as n where merchant_id = $1`;
  await sqlOf(harness(), copy, [tenant.merchantId]);
  const days = 'update funds.balance_day set available_minor = -5000 where merchant_id = $1';
  await sqlOf(harness(), days, [tenant.merchantId]);
  statements.length = 0;
  const stream = client.exportMovements(tenant)[Symbol.asyncIterator]();
  const { value: first } = await stream.next();
  expect(partsOf(first?.openingBalance)).toEqual([0n, 0n, 0n]);
  const readAhead = statements.filter((sql) => sql.includes('limit')).length;
  expect(readAhead).toBeLessThan(8);
  /** Begins another export, and returns a function that abandons it. */
  const leave = async () => {
    const cancel = new AbortController();
    const left = client.exportMovements(tenant, { signal: cancel.signal })[Symbol.asyncIterator]();
    await left.next();
    return () => cancel.abort();
  };
  const abandon = await leave();
  await expectRefusal(leave(), Code.ResourceExhausted, 'TOO_MANY_EXPORTS');
  abandon();
  // Each export frees its slot once its caller has disconnected.
  for (let n = 0; n < 3; n += 1) (await vi.waitFor(leave, { timeout: 40_000 }))();
  await caller.deduct(7n, undefined, '2020-06-01');
  let [count, closing] = [0, first?.closingBalance];
  for (let next = await stream.next(); !next.done; next = await stream.next()) {
    count += next.value.movements.length;
    closing = next.value.closingBalance;
  }
  expect([count, ...partsOf(closing)]).toEqual([5_000, -5_000n, 0n, 0n]);
  expect((await exported(caller)).movements).toHaveLength(5_001);
  const audited = 'select action from platform.audit_entry where merchant_id = $1 and action like $2';
  expect(await sqlOf(harness(), audited, [tenant.merchantId, '%ExportMovements'])).toHaveLength(6);
});
