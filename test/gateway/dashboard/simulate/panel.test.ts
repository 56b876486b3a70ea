import { randomUUID } from 'node:crypto';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { AdvanceService } from '../../../../proto/gen/payments/advances/v1/advances_pb.js';
import { FundsService } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { RefundCaseService } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  DeliveryService,
  DeliveryStatus,
  EventService,
  WebhookSubscriptionService,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { DAY_MS } from '../../../../services/platform/durations.ts';
import { EVENT_CATALOG } from '../../../../services/webhooks/events/event-types/event-catalog.ts';
import { sharedDashboard } from '../dashboard-fixture.ts';
import { idIn, type SandboxFixture, sandboxFixture, stateOn, stepsOn } from './sandbox-fixture.ts';

const fixture = await sharedDashboard();

const tenantOf = ({ merchantId }: SandboxFixture) => ({ merchantId, environment: Environment.TEST });
const balanceOf = (panel: SandboxFixture) =>
  createClient(FundsService, fixture.transport).getBalance(tenantOf(panel));

it('sells by Pix and by card, now and in the past, and releases what is due', async () => {
  const panel = await sandboxFixture(fixture);
  await panel.sell({ gross: '1,234.56', fees: '34.56' });
  expect(await balanceOf(panel)).toMatchObject({ availableAmountMinor: 120_000n, scheduledAmountMinor: 0n });
  const past = { method: 'CARD', installments: '3', gross: '300.00', fees: '0', sold_days_ago: '70' };
  const sold = await panel.sell(past);
  expect([sold.status, sold.text.includes('Sale recorded.')]).toEqual([200, true]);
  expect(await balanceOf(panel)).toMatchObject({ scheduledAmountMinor: 30_000n });
  const released = await panel.visitor.submit(`${panel.home}/simulate`, '/simulate/release');
  expect(await balanceOf(panel)).toMatchObject({
    availableAmountMinor: 140_000n,
    scheduledAmountMinor: 10_000n,
  });
  expect(released.document.querySelector('.outcome')!.text).toContain('funds.released.v1');
});

it('creates a sale with an order number and a customer, by which the search finds it', async () => {
  const panel = await sandboxFixture(fixture);
  const sale = idIn(await panel.sell({ order_number: 'R 10482', customer: 'Maria da Silva' }));
  for (const text of ['r 104', 'Maria da Silva']) {
    const found = await panel.visitor.get(`${panel.home}/search?q=${encodeURIComponent(text)}`);
    const links = found.document.querySelectorAll('main td a').map((link) => link.getAttribute('href'));
    expect(links).toEqual([`${panel.home}/funds/sales/${sale}`]);
  }
});

it('publishes the payment of a sale once, like the payments teams for real ones', async () => {
  const panel = await sandboxFixture(fixture);
  const page = await panel.visitor.get(`${panel.home}/simulate`);
  const values = { method: 'CARD', installments: '3', gross: '300.00', fees: '0' };
  const sold = await panel.visitor.submit(page, '/simulate/sales', values);
  await panel.visitor.submit(page, '/simulate/sales', values);
  expect(sold.document.querySelector('.outcome')!.text).toContain('payment.succeeded.v1');
  expect(sold.document.querySelector('main dd')!.text).toBe('R$300.00');
  const events = createClient(EventService, fixture.transport);
  const { events: published } = await events.listEvents({ ...tenantOf(panel), type: 'payment.succeeded.v1' });
  expect(published).toHaveLength(1);
  expect(published[0]!.data).toEqual({
    id: published[0]!.objectId,
    amount: 30_000,
    currency: 'BRL',
    paymentMethod: 'CARD',
    installments: 3,
    status: 'SUCCEEDED',
    paidAt: expect.any(String),
  });
  const opened = await panel.visitor.submit(sold, '/simulate/refund-cases', { amount: '50.00' });
  expect(opened.status).toBe(200);
  const cases = createClient(RefundCaseService, fixture.transport);
  const { refundCases } = await cases.listRefundCases(tenantOf(panel));
  expect(refundCases[0]!.paymentIntentId).toBe(published[0]!.objectId);
});

it('shows errors of a sale or a refund at the field, and keeps the entered values', async () => {
  const panel = await sandboxFixture(fixture);
  const sale = await panel.sell({ gross: 'much', fees: '1', installments: '2', sold_days_ago: '-1' });
  expect(sale.status).toBe(422);
  const faults = (page: typeof sale) => page.document.querySelectorAll('.fault').map(({ id }) => id);
  expect(faults(sale)).toEqual(['gross-fault', 'installments-fault', 'sold_days_ago-fault']);
  expect(sale.document.querySelector('#gross')!.getAttribute('value')).toBe('much');
  expect(faults(await panel.sell({ gross: '1', fees: '2' }))).toEqual(['fees-fault']);
  const refund = await panel.openCase({ amount: '0', paid: '99999999999999999', reason: ' ' });
  expect(faults(refund)).toEqual(['amount-fault', 'paid-fault', 'reason-fault']);
  const exceeding = await panel.openCase({ amount: '2.00', paid: '1.00' });
  expect(exceeding.status).toBe(422);
  expect(exceeding.document.querySelector('#amount-fault')!.text).toContain('exceeds what is left');
  expect(exceeding.document.querySelector('#amount')!.getAttribute('value')).toBe('2.00');
  expect(await balanceOf(panel)).toMatchObject({ availableAmountMinor: 0n, scheduledAmountMinor: 0n });
  const most = { method: 'CARD', gross: '90,071,992,547,409.91', fees: '0' };
  await panel.sell(most);
  const tooMuch = await panel.sell(most);
  expect([tooMuch.status, ...faults(tooMuch)]).toEqual([422, 'gross-fault']);
  expect(tooMuch.document.querySelector('#gross')!.getAttribute('value')).toBe(most.gross);
});

it('opens cases beyond the 24-hour limits if they were requested 2 days ago', async () => {
  const panel = await sandboxFixture(fixture);
  const large = { amount: '9,999,999.00', paid: '9,999,999.00' };
  expect(stateOn(await panel.openCase(large))).toBe('SERVICE_REVIEW');
  expect(stateOn(await panel.openCase())).toBe('SERVICE_REVIEW');
  expect(stateOn(await panel.openCase({ asked_days_ago: '2' }))).toBe('MERCHANT_REVIEW');
});

it('sends what happened 8 days ago to the endpoints of today', async () => {
  const panel = await sandboxFixture(fixture);
  const webhooks = createClient(WebhookSubscriptionService, fixture.transport);
  const target = { url: 'https://127.0.0.1:8443/', eventTypes: ['refund.requested.v1'] };
  const hook = { ...tenantOf(panel), idempotencyKey: 'hook', ...target };
  const { subscription } = await webhooks.createWebhookSubscription(hook);
  expect(stateOn(await panel.openCase({ asked_days_ago: '8' }))).toBe('MERCHANT_REVIEW');
  const { deliveries } = await createClient(DeliveryService, fixture.transport).listDeliveries({
    ...tenantOf(panel),
    subscriptionId: subscription!.id,
    eventType: 'refund.requested.v1',
  });
  expect(deliveries).toMatchObject([{ status: DeliveryStatus.PENDING }]);
  const { eventId } = deliveries[0]!;
  const { event } = await createClient(EventService, fixture.transport).getEvent({
    ...tenantOf(panel),
    eventId,
  });
  const weekAgoMs = Date.now() - 7 * DAY_MS;
  expect(timestampMs(event!.timestamp!)).toBeLessThan(weekAgoMs);
  expect(timestampMs(subscription!.createdAt!)).toBeGreaterThan(weekAgoMs);
});

it('refunds a sale, blocks its funds and disputes it', async () => {
  const panel = await sandboxFixture(fixture);
  const { visitor, home } = panel;
  const sale = await panel.sell({ fees: '0' });
  const path = `${home}/simulate/sales/${idIn(sale)}`;
  const opened = await visitor.submit(sale, '/simulate/refund-cases', { amount: '50.00' });
  expect(opened.text).toContain('refund.requested.v1');
  const beyond = await visitor.submit(sale.path, '/simulate/refund-cases', { amount: '70.01' });
  const fault = beyond.document.querySelector('#amount-fault')?.text;
  expect([beyond.status, fault]).toEqual([422, expect.stringContaining('exceeds what is left')]);
  expect(beyond.document.querySelector('input[name=sale_id]')?.getAttribute('value')).toBe(idIn(sale));
  expect((await visitor.get(path)).text).toContain(idIn(opened));

  const blocked = await visitor.submit(path, '/block', { reason_to_block: 'COMPLIANCE_HOLD' });
  expect(blocked.document.querySelector('.outcome')!.text).toContain('funds.blocked.v1');
  expect(await balanceOf(panel)).toMatchObject({ availableAmountMinor: 0n, blockedAmountMinor: 12_000n });
  const other = await visitor.submit(path, '/unblock', { reason_to_unblock: 'KYC_PENDING' });
  expect([other.status, other.text.includes('no block with this reason')]).toEqual([404, true]);
  const free = await visitor.submit(path, '/unblock', { reason_to_unblock: 'COMPLIANCE_HOLD' });
  expect(free.document.querySelector('.outcome')!.text).toContain('funds.unblocked.v1');
  expect(await balanceOf(panel)).toMatchObject({ availableAmountMinor: 12_000n });

  for (const end of ['won', 'lost']) {
    const disputed = await visitor.submit(path, '/open-dispute');
    expect(disputed.document.querySelector('.outcome')!.text).toContain('dispute.opened.v1');
    const response = await visitor.get(`${home}/disputes?status=OPEN`);
    const dispute = response.document.querySelector('tbody a')!.getAttribute('href')!;
    await visitor.submit(dispute, '/respond', { response: 'Delivered.' });
    const submitted = await visitor.submit(path, '/submitted');
    expect(submitted.text).toContain('Response sent to the bank.');
    expect(submitted.document.querySelectorAll('form[action$="/submitted"]')).toEqual([]);
    const closed = await visitor.submit(submitted, `/${end}`);
    expect(closed.document.querySelector('.outcome')!.text).toContain('dispute.closed.v1');
  }
  const { document } = await visitor.get(path);
  expect(document.querySelectorAll('.disputes strong').map(({ text }) => text)).toEqual(['lost', 'won']);
  expect(document.querySelectorAll('.disputes form').length).toBe(1);
  const reversed = await visitor.submit(path, '/reversed');
  expect(reversed.document.querySelector('.outcome')!.text).toContain('dispute.reversed.v1');
  expect(reversed.document.querySelector('.disputes strong')!.text).toBe('reversed');
  expect(reversed.document.querySelectorAll('.disputes form')).toEqual([]);
  const unknown = `${home}/simulate/sales/${randomUUID()}`;
  await visitor.post(`${unknown}/open-dispute`, visitor.proof());
  const open = await visitor.get(`${home}/disputes?status=OPEN`);
  expect(open.document.querySelectorAll('tbody a')).toEqual([]);
});

it('takes a past advance through every state, and refuses others', async () => {
  const panel = await sandboxFixture(fixture);
  const { visitor, home, step } = panel;
  const make = () => visitor.submit(`${home}/simulate`, '/simulate/advances');
  const requested = await make();
  expect([stateOn(requested), stepsOn(requested)]).toEqual(['PENDING_REVIEW', ['approve', 'refuse']]);
  const approved = await step(requested, 'approve');
  expect([stateOn(approved), stepsOn(approved)]).toEqual(['APPROVED', ['refuse', 'release']]);
  const released = await step(approved, 'release');
  expect([stateOn(released), stepsOn(released)]).toEqual(['RELEASED', ['settle']]);
  const settled = await step(released, 'settle');
  expect([stateOn(settled), stepsOn(settled)]).toEqual(['SETTLED', []]);
  expect(settled.document.querySelector('.outcome')!.text).toContain('advance.settled.v1');
  const refused = await step(await step(await make(), 'approve'), 'refuse', { reason: 'too much' });
  expect(stateOn(refused)).toBe('REFUSED');
});

it('approves a merchant’s own request of today, which is settled later', async () => {
  const panel = await sandboxFixture(fixture);
  await panel.sell({ method: 'CARD', installments: '2' });
  const advances = createClient(AdvanceService, fixture.transport);
  const write = (idempotencyKey: string) => ({ ...tenantOf(panel), idempotencyKey });
  const { quote } = await advances.quoteAdvance(write('quote'));
  const { advanceRequest } = await advances.requestAdvance({ ...write('request'), quoteId: quote!.id });
  const path = `${panel.home}/simulate/advances/${advanceRequest!.id}`;
  await panel.visitor.submit(path, '/approve');
  const released = await panel.visitor.submit(path, '/release');
  expect([stateOn(released), stepsOn(released)]).toEqual(['RELEASED', []]);
  expect(released.text).toContain('Settlement is automatic');
});

it('publishes every event of the catalog with its example, and shows its deliveries', async () => {
  const panel = await sandboxFixture(fixture);
  const { visitor, home } = panel;
  const webhooks = createClient(WebhookSubscriptionService, fixture.transport);
  const eventTypes = EVENT_CATALOG.map(({ name }) => name);
  const target = { url: 'https://127.0.0.1:8443/', eventTypes };
  await webhooks.createWebhookSubscription({ ...tenantOf(panel), idempotencyKey: 'hook', ...target });
  const offered = (await visitor.get(`${home}/simulate`)).document.querySelectorAll('#type option');
  expect(offered.map((option) => option.getAttribute('value'))).toEqual(eventTypes);
  const client = createClient(EventService, fixture.transport);
  for (const type of eventTypes) {
    const done = await visitor.submit(`${home}/simulate/events?type=${type}`, '/publish');
    expect([type, done.status]).toEqual([type, 200]);
    const requestId = new URLSearchParams(done.path.split('?')[1]).get('request')!;
    expect(done.text).toContain(`/deliveries?request=${requestId}`);
    const { events } = await client.listEvents({ ...tenantOf(panel), requestId });
    expect(events).toMatchObject([{ type, requestId }]);
  }
  const inPortuguese = await visitor.reading('pt-BR').get(`${home}/simulate/events?type=refund.failed.v1`);
  expect(inPortuguese.text).toContain('O provedor não pagou um reembolso');
  const unknown = await visitor.submit(`${home}/simulate/events`, '/publish', { type: 'x.y.v1' });
  expect([unknown.status, unknown.text.includes('event type does not exist')]).toEqual([422, true]);
});
