import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { afterAll, expect, it } from 'vitest';
import { RefundCaseStatus, RefundInitiator } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { daysAgo } from '../../support/ago.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { newTenant, newWrite, startHarness } from '../../support/harness.ts';
import { refundsOf } from './refund-case-fixture.ts';

const harness = await startHarness({ SERVICES: 'refunds' });
afterAll(() => harness.close());

/** A refund of a payment as its caller repeats it: each time with a new idempotency key, as after 24 hours. */
const request = () => ({
  paymentIntentId: randomUUID(),
  paidAt: daysAgo(1),
  refundReference: 'R-10482/1',
});

it('opens one case of a reference, and returns it as it now is, also beyond the refund window', async () => {
  const { refunds, tenant, write, open } = refundsOf(harness, 'grpc');
  const paidAt = daysAgo(40);
  const occurredAt = daysAgo(35);
  const refund = { ...request(), paidAt, amountMinor: 5_000n };
  const opened = await open({ ...refund, occurredAt });
  expect(opened.refundReference).toBe('R-10482/1');
  await refunds.cancelRefundCase({ ...write(), refundCaseId: opened.id });
  const again = await open(refund);
  expect(again).toMatchObject({ id: opened.id, status: RefundCaseStatus.CANCELED });
  const { refundCases } = await refunds.listRefundCases(tenant);
  expect(refundCases.map(({ id, refundReference }) => [id, refundReference])).toEqual([
    [opened.id, 'R-10482/1'],
  ]);
});

it('lists the cases of a reference, whatever their payment', async () => {
  const { refunds, tenant, open } = refundsOf(harness, 'grpc');
  const cases = [await open(request()), await open(request())];
  await open({ ...request(), refundReference: 'R-10482/2' });
  const { refundCases } = await refunds.listRefundCases({ ...tenant, refundReference: 'R-10482/1' });
  expect(refundCases.map(({ id }) => id)).toEqual(cases.map(({ id }) => id).reverse());
});

it('opens one case when a request is sent many times at once', async () => {
  const { open } = refundsOf(harness, 'grpc');
  const refund = request();
  const cases = await Promise.all(Array.from({ length: 8 }, () => open(refund)));
  expect(new Set(cases.map(({ id }) => id)).size).toBe(1);
});

it.each([
  ['amount', { amountMinor: 999n }],
  ['initiator', { initiator: RefundInitiator.MERCHANT }],
  ['reason', { reason: 'too late' }],
])('refuses a reference that belongs to a refund of another %s', async (_, other) => {
  const { open } = refundsOf(harness, 'grpc');
  const refund = request();
  const { id } = await open(refund);
  const refused = open({ ...refund, ...other });
  await expectRefusal(refused, Code.AlreadyExists, 'REFUND_REFERENCE_REUSED', { refundCaseId: id });
});

it('keeps references of other payments, merchants and environments apart', async () => {
  const tenant = newTenant();
  const { open, tenant: live } = refundsOf(harness, 'grpc', tenant);
  const refund = request();
  const cases = [
    await open(refund),
    await open({ ...refund, paymentIntentId: randomUUID() }),
    await open({ ...refund, ...newTenant() }),
    await open({ ...refund, ...newWrite(live), environment: 2 }),
    await open({ ...refund, refundReference: 'R-10482/2' }),
    await open({ ...refund, refundReference: undefined }),
  ];
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
});
