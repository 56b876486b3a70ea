import { randomUUID } from 'node:crypto';
import { timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { AccountService, Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  type Dispute,
  DisputeOutcome,
  DisputeReason,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { addDays, civilDateAt } from '../../../../services/platform/civil-date.ts';
import { HOUR_MS } from '../../../../services/platform/durations.ts';
import { refundsOf } from '../../../services/refunds/refund-case-fixture.ts';
import { hoursAgo } from '../../../support/ago.ts';
import { newTenant } from '../../../support/harness.ts';
import { type SeenPage, sharedDashboard } from '../dashboard-fixture.ts';
import { readCsv } from '../exports/read-csv.ts';

const fixture = await sharedDashboard();

async function merchant() {
  const { refunds, tenant, write } = refundsOf(fixture.harness, 'inProcess', newTenant());
  const { merchantId } = tenant;
  const person = (role: Role) => fixture.signIn({ [merchantId]: role });
  const dispute = async (reason: DisputeReason, dueInHours: number | undefined, terms: object = {}) => {
    const due = dueInHours !== undefined && { dueAt: timestampFromMs(Date.now() + dueInHours * HOUR_MS) };
    const occurredAt = hoursAgo(3);
    const opening = { disputeId: randomUUID(), paymentIntentId: randomUUID(), reason, ...due, occurredAt };
    return (await refunds.openDispute({ ...write(), ...opening, ...terms })).dispute!;
  };
  return { refunds, write, merchantId, person, dispute, list: `/live/${merchantId}/disputes` };
}

const rows = ({ document }: SeenPage) =>
  document
    .querySelectorAll('tbody tr')
    .map((row) => [row.querySelector('a')!.text, row.querySelector('.badge')!.text]);
const noticeOf = ({ document }: SeenPage) => document.querySelector('.notice.busy')?.text;
const mainOf = ({ document }: SeenPage) => document.querySelector('main')!.text;

it('lists disputes awaiting a response first, earliest due date first, and by status and payment', async () => {
  const { refunds, write, person, dispute, list, merchantId } = await merchant();
  const visitor = await person(Role.VIEWER);
  expect(mainOf(await visitor.get(list))).toContain('No disputes awaiting your response.');
  await dispute(DisputeReason.DUPLICATE, 100);
  await dispute(DisputeReason.FRAUDULENT, 20, { amountMinor: 123_456n });
  await dispute(DisputeReason.GENERAL, -1);
  const { id: disputeId, paymentIntentId } = await dispute(DisputeReason.UNRECOGNIZED, 50, {
    amountMinor: 5_000n,
  });
  await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
  const seen = async (query: string) => rows(await visitor.get(`${list}?${query}`));
  const awaiting = [
    ['Unauthorized purchase', 'Needs your response'],
    ['Duplicate charge', 'Needs your response'],
  ];
  const page = await visitor.get(list);
  expect(rows(page)).toEqual(awaiting);
  expect(mainOf(page)).toMatch(/R\$1,234\.56[\s\S]*due in (19|20) hours[\s\S]*rest of the sale/);
  const unanswered = ['Other reason', 'No response'];
  expect((await seen('status=OPEN')).sort()).toEqual([...awaiting, unanswered].sort());
  expect(await seen('status=CLOSED')).toEqual([['Unrecognized purchase', 'Lost']]);
  expect(await seen('status=')).toHaveLength(4);
  expect(await seen(`status=&payment=${paymentIntentId.toUpperCase()}`)).toHaveLength(1);
  expect((await visitor.get(`${list}?payment=12`)).status).toBe(422);
  const overview = await visitor.get(`/live/${merchantId}`);
  const card = overview.document.querySelector('section[aria-labelledby=disputes-title]')!;
  expect(card.querySelectorAll('li').map(({ text }) => text)).toMatchObject([
    expect.stringContaining('R$1,234.56'),
    expect.stringContaining('rest of the sale'),
  ]);
  expect(card.querySelectorAll('li a').map(({ text }) => text)).toEqual(awaiting.map(([reason]) => reason));
});

it('exports the listed disputes as a file', async () => {
  const { refunds, write, person, dispute, list } = await merchant();
  const visitor = await person(Role.VIEWER);
  const saleId = randomUUID();
  const later = await dispute(DisputeReason.DUPLICATE, 100, { saleId });
  const sooner = await dispute(DisputeReason.FRAUDULENT, 20, { amountMinor: 123_456n });
  const lost = await dispute(DisputeReason.UNRECOGNIZED, 50, { amountMinor: 5_000n });
  await refunds.closeDispute({ ...write(), disputeId: lost.id, outcome: DisputeOutcome.LOST });
  const file = async (query: string) => {
    const { document } = await visitor.get(`${list}${query}`);
    const link = document.querySelector('.downloads a')!.getAttribute('href')!;
    return readCsv((await visitor.get(link)).text);
  };
  const item = (of: Dispute, rest: object) => ({
    line: 'item',
    dispute_id: of.id,
    opened_at: timestampDate(of.openedAt!).toISOString(),
    due_at: timestampDate(of.dueAt!).toISOString(),
    payment_intent_id: of.paymentIntentId,
    ...rest,
  });
  const awaiting = await file('');
  expect(awaiting).toMatchObject([
    item(sooner, { status: 'NEEDS_RESPONSE', reason: 'FRAUDULENT', amount: '1234,56', sale_id: '' }),
    item(later, { status: 'NEEDS_RESPONSE', reason: 'DUPLICATE', amount: '', sale_id: saleId }),
    { line: 'total', amount: '1234,56' },
  ]);
  const closed = [item(lost, { status: 'LOST', amount: '50,00' }), { line: 'total', amount: '50,00' }];
  expect(await file('?status=CLOSED')).toMatchObject(closed);
  expect(await file(`?status=&payment=${lost.paymentIntentId}`)).toMatchObject(closed);
  expect(await file('?status=')).toHaveLength(4);
  const opened = civilDateAt(timestampDate(lost.openedAt!));
  const dates = async (range: string) => readCsv((await visitor.get(`${list}.csv?${range}`)).text);
  expect(await dates(`from=${opened}&to=${opened}`)).toHaveLength(4);
  expect(await dates(`from=${addDays(opened, 1)}`)).toHaveLength(1);
  expect(await dates(`to=${addDays(opened, -1)}`)).toHaveLength(1);
});

it('takes a developer’s response once, records the person, and shows it until and after the end', async () => {
  const { refunds, write, person, dispute, list, merchantId } = await merchant();
  const visitor = await person(Role.DEVELOPER);
  const terms = { saleId: randomUUID(), amountMinor: 4_200n };
  const { id: disputeId, paymentIntentId } = await dispute(DisputeReason.PRODUCT_NOT_RECEIVED, 30, terms);
  const path = `${list}/${disputeId}`;
  const viewer = await person(Role.VIEWER);
  expect(mainOf(await viewer.get(path))).toContain('Ask someone in finance');
  expect((await viewer.post(`${path}/respond`, { ...viewer.proof(), response: 'no' })).status).toBe(403);
  const empty = await visitor.submit(path, '/respond', { response: ' \r\n ' });
  expect([empty.status, empty.document.querySelector('#response-fault')?.text]).toEqual([
    422,
    'Enter a response.',
  ]);
  const long = '🙂'.repeat(5_001);
  const tooLong = await visitor.submit(empty, '/respond', { response: long });
  expect([tooLong.status, tooLong.document.querySelector('#response')!.text]).toEqual([422, long]);
  const text = `Delivered on the 3rd.\nSigned for <b>by hand</b>. ${'🙂'.repeat(4_900)}`;
  const form = await visitor.get(path);
  const done = await visitor.submit(form, '/respond', { response: text.replace('\n', '\r\n') });
  expect([done.status, done.text.includes('Response sent.')]).toEqual([200, true]);
  expect(done.document.querySelector('.words')!.text).toBe(text);
  expect(done.document.querySelector('.badge')!.text).toBe('Under review');
  expect(done.document.querySelectorAll('main form[action$="/respond"]')).toEqual([]);
  const second = await visitor.post(`${path}/respond`, { ...visitor.proof(), response: 'also' });
  expect([second.status, noticeOf(second)]).toEqual([
    200,
    expect.stringMatching(/^This dispute already had a response, sent by you on .* Yours was not sent\.$/),
  ]);
  expect(second.document.querySelector('.words')!.text).toBe(text);
  expect(mainOf(done)).not.toContain('Response sent to the customer’s bank');
  await refunds.recordResponseSubmission({ ...write(), disputeId });
  const submitted = await visitor.get(path);
  expect(submitted.document.querySelector('.badge')!.text).toBe('Awaiting decision');
  expect(mainOf(submitted)).toMatch(/Response sent to the customer’s bank\s+\w/);
  await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.WON });
  const closed = mainOf(await visitor.reading('pt-BR').get(path));
  for (const shown of [
    disputeId,
    paymentIntentId,
    terms.saleId,
    text,
    'Ganha',
    'Produto não recebido',
    'dispute.opened.v1',
    'dispute.responded.v1',
    'dispute.closed.v1',
    'Resposta enviada ao banco do cliente',
    'Disputa encerrada',
    '42,00',
  ])
    expect(closed).toContain(shown);
  const accounts = createClient(AccountService, fixture.transport);
  const { entries } = await accounts.listAuditEntries({ merchantId, environment: Environment.LIVE });
  const responses = entries.filter(({ action }) => action.endsWith('RespondToDispute'));
  expect(responses.map(({ accountId }) => accountId)).toEqual([visitor.accountId]);
});

it('offers no form once the due date has passed, and rejects a late response', async () => {
  const { person, dispute, list } = await merchant();
  const visitor = await person(Role.DEVELOPER);
  const { id } = await dispute(DisputeReason.GENERAL, -1);
  const page = await visitor.get(`${list}/${id}`);
  expect(page.document.querySelectorAll('main form')).toEqual([]);
  expect(mainOf(page)).toContain('You can no longer respond or attach files');
  const steps = page.document.querySelectorAll('.timeline strong').map(({ text }) => text);
  expect(steps).toEqual(['Dispute opened', 'Due date passed without a response']);
  const late = await visitor.post(`${list}/${id}/respond`, { ...visitor.proof(), response: 'late' });
  expect([late.status, noticeOf(late)]).toEqual([
    200,
    expect.stringContaining('Your response was not sent.'),
  ]);
});
