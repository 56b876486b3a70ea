import { randomUUID } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import { BlockOutcome, BlockReason } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { DAY_MS } from '../../../services/platform/durations.ts';
import { startHarness } from '../../support/harness.ts';
import { sqlOf } from '../../support/sql.ts';
import { type FundsCaller, fundsCaller } from './funds-caller.ts';

const harness = await startHarness({ SERVICES: 'funds' });
afterAll(() => harness.close());

/** The events of an account since the last call: type, date, the row's status and remaining amount. */
function eventReader({ tenant }: FundsCaller) {
  let heard = 0;
  return async () => {
    const events = await sqlOf<{ published: string }>(
      harness,
      `select replace(type, '.v1', '') || ' ' || object_id || ' ' || (data->>'status') || ' ' ||
              ((data->>'blockedAmountMinor')::int + (data->>'releasedAmountMinor')::int
               + (data->>'scheduledAmountMinor')::int) as published
         from (select id, type, object_id, body::json -> 'data' as data from webhooks.event
                where merchant_id = $1 and type like 'funds.%') published
        order by id`,
      [tenant.merchantId],
    );
    const published = events.slice(heard).map((event) => event.published);
    heard = events.length;
    return published;
  };
}

const held = [BlockOutcome.RETURNED, BlockReason.REFUND_IN_PROGRESS] as const;

it('publishes the release of an instant transfer at once, and of a card sale on its day', async () => {
  const funds = fundsCaller(harness.transports.inProcess);
  const published = eventReader(funds);
  await funds.sell({ on: '2020-06-20', gross: 500n, instant: true });
  expect(await published()).toEqual(['funds.released 2020-06-20 RELEASED 500']);
  await funds.sell({ on: '2020-06-20', gross: 300n, installments: 2 });
  expect(await published()).toEqual([]);
  await funds.releaseDue('2020-07-20');
  expect(await published()).toEqual(['funds.released 2020-07-20 RELEASED 150']);
});

it('publishes an installment that was blocked from the start once it is unblocked', async () => {
  const funds = fundsCaller(harness.transports.inProcess);
  const published = eventReader(funds);
  const { saleId } = await funds.sell({ on: '2020-06-20', gross: 300n, installments: 2 });
  const advance = randomUUID();
  await funds.reserve(
    (await funds.advanceable('2020-06-20')).installments.slice(0, 1),
    advance,
    '2020-06-20',
  );
  const dispute = randomUUID();
  await funds.block(saleId, dispute, BlockReason.HOLD_OR_DISPUTE, '2020-06-21');
  expect(await published()).toEqual(['funds.blocked 2020-08-19 BLOCKED 150']);
  await funds.free(advance, '2020-06-22');
  expect(await published()).toEqual(['funds.blocked 2020-07-20 BLOCKED 150']);
  await funds.unblock(saleId, dispute, BlockOutcome.RETURNED, BlockReason.HOLD_OR_DISPUTE, '2020-06-23');
  expect(await published()).toEqual([
    'funds.unblocked 2020-07-20 SCHEDULED 150',
    'funds.unblocked 2020-08-19 SCHEDULED 150',
  ]);
});

it('publishes when a refund empties a blocked installment, and when it is restored', async () => {
  const funds = fundsCaller(harness.transports.inProcess);
  const published = eventReader(funds);
  const refundCase = randomUUID();
  const { saleId } = await funds.sell({ on: '2020-06-20', gross: 300n, installments: 2 });
  await funds.block(saleId, refundCase, BlockReason.REFUND_IN_PROGRESS, '2020-06-21');
  await published();
  await funds.debit(refundCase, 200n, saleId, '2020-06-21');
  expect(await published()).toEqual(['funds.unblocked 2020-08-19 SCHEDULED 0']);
  await funds.reverse(refundCase, '2020-06-22');
  expect(await published()).toEqual(['funds.blocked 2020-08-19 BLOCKED 150']);
  await funds.unblock(saleId, refundCase, ...held, '2020-07-21');
  expect(await published()).toEqual([
    'funds.unblocked 2020-07-20 RELEASED 150',
    'funds.unblocked 2020-08-19 SCHEDULED 150',
  ]);
});

it('publishes the parts of an installment that a hold takes and returns', async () => {
  const funds = fundsCaller(harness.transports.inProcess);
  const published = eventReader(funds);
  const [refundCase, dispute] = [randomUUID(), randomUUID()];
  const { saleId } = await funds.sell({ on: '2020-06-20', gross: 300n, installments: 2 });
  await funds.block(saleId, refundCase, BlockReason.REFUND_IN_PROGRESS, '2020-06-21', 200n);
  expect(await published()).toEqual([
    'funds.blocked 2020-07-20 BLOCKED 50',
    'funds.blocked 2020-08-19 BLOCKED 150',
  ]);
  await funds.unblock(saleId, refundCase, ...held, '2020-06-21');
  await funds.block(saleId, dispute, BlockReason.HOLD_OR_DISPUTE, '2020-06-22');
  await funds.sell({ on: '2020-06-22', gross: 200n, instant: true });
  await published();
  // The refund is paid from another sale, and the rest of the disputed one is less.
  await funds.debit(randomUUID(), 200n, saleId, '2020-06-22');
  expect(await published()).toEqual([
    'funds.unblocked 2020-07-20 SCHEDULED 150',
    'funds.unblocked 2020-08-19 SCHEDULED 50',
  ]);
});

const noticesOf = (merchantId: string) =>
  sqlOf(
    harness,
    'select workflow_id, arguments from platform.outbox_command where merchant_id = $1 and workflow_id like $2',
    [merchantId, 'notice-%'],
  );

it('starts a mail to the merchant about a debt that a deduction leaves, in live only', async () => {
  const funds = fundsCaller(harness.transports.inProcess);
  const { merchantId } = funds.tenant;
  const sandbox = fundsCaller(harness.transports.inProcess, { merchantId, environment: Environment.TEST });
  await sandbox.deduct(1n);
  await funds.sell({ gross: 100n, instant: true });
  await funds.deduct(100n);
  expect(await noticesOf(merchantId)).toEqual([]);
  await funds.deduct(1n);
  const input = { merchantId, environment: 'live', kind: 'DEBTS', subjectId: merchantId };
  expect(await noticesOf(merchantId)).toEqual([
    { workflow_id: `notice-DEBTS-${merchantId}`, arguments: [input] },
  ]);
});

it('starts a mail to the merchant about debts that the balance no longer covers because of a hold', async () => {
  const funds = fundsCaller(harness.transports.inProcess);
  const { merchantId } = funds.tenant;
  const { saleId } = await funds.sell({ gross: 100n, instant: true });
  await funds.deduct(60n);
  await funds.block(saleId, randomUUID(), BlockReason.HOLD_OR_DISPUTE, undefined, 40n);
  expect(await noticesOf(merchantId)).toEqual([]);
  await funds.block(saleId, randomUUID(), BlockReason.HOLD_OR_DISPUTE, undefined, 10n);
  expect(await noticesOf(merchantId)).toMatchObject([{ workflow_id: `notice-DEBTS-${merchantId}` }]);
  await funds.block(saleId, randomUUID(), BlockReason.HOLD_OR_DISPUTE, undefined, 10n);
  expect(await noticesOf(merchantId)).toHaveLength(1);
});

it('starts a mail to the merchant about the first of its funds in a week that are held for KYC, in live only', async () => {
  const funds = fundsCaller(harness.transports.inProcess);
  const { merchantId } = funds.tenant;
  const sandbox = fundsCaller(harness.transports.inProcess, { merchantId, environment: Environment.TEST });
  const { KYC_PENDING, COMPLIANCE_HOLD } = BlockReason;
  await sandbox.block(randomUUID(), randomUUID(), KYC_PENDING);
  await funds.block(randomUUID(), randomUUID(), COMPLIANCE_HOLD);
  const imported = randomUUID();
  await funds.block(imported, imported, KYC_PENDING, '2020-06-22');
  expect(await noticesOf(merchantId)).toEqual([]);
  const input = { merchantId, environment: 'live', kind: 'FUNDS_HELD', subjectId: merchantId };
  const notice = { workflow_id: `notice-FUNDS_HELD-${merchantId}`, arguments: [input] };
  const holds = [randomUUID(), randomUUID()] as const;
  for (const sale of holds) {
    await funds.block(sale, sale, KYC_PENDING);
    expect(await noticesOf(merchantId)).toEqual([notice]);
  }
  for (const sale of [...holds, imported])
    await funds.unblock(sale, sale, BlockOutcome.RETURNED, KYC_PENDING);
  await funds.block(holds[0], randomUUID(), KYC_PENDING);
  expect(await noticesOf(merchantId)).toEqual([notice, notice]);
});

it('starts a mail about funds held for KYC a week after the last one, although there were holds without one since', async () => {
  const funds = fundsCaller(harness.transports.inProcess);
  const { merchantId } = funds.tenant;
  for (const mails of [1, 1, 2, 2]) {
    await funds.block(randomUUID(), randomUUID(), BlockReason.KYC_PENDING);
    expect(await noticesOf(merchantId)).toHaveLength(mails);
    await sqlOf(
      harness,
      `update funds.block set opened_at = opened_at - interval '4 days',
         id = uuidv7(uuid_extract_timestamp(id) - interval '4 days' - now()) where merchant_id = $1`,
      [merchantId],
    );
  }
});

it('starts a mail about funds held for KYC although an earlier hold, recorded too late for one, is open', async () => {
  const funds = fundsCaller(harness.transports.inProcess);
  const { merchantId } = funds.tenant;
  const threeDaysAgo = new Date(Date.now() - 3 * DAY_MS).toISOString().slice(0, 10);
  await funds.block(randomUUID(), randomUUID(), BlockReason.KYC_PENDING, threeDaysAgo);
  expect(await noticesOf(merchantId)).toEqual([]);
  await funds.block(randomUUID(), randomUUID(), BlockReason.KYC_PENDING);
  expect(await noticesOf(merchantId)).toHaveLength(1);
});
