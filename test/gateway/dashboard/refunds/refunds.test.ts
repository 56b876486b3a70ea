import { randomUUID } from 'node:crypto';
import { timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { AccountService, Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  DisputeOutcome,
  MerchantDecisionKind,
  ProviderOutcome,
  RefundBlocker,
  RefundDebitOutcome,
  RefundInitiator,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { addDays, civilDateAt } from '../../../../services/platform/civil-date.ts';
import { DAY_MS } from '../../../../services/platform/durations.ts';
import { fundsCaller } from '../../../services/funds/funds-caller.ts';
import { refundsOf } from '../../../services/refunds/refund-case-fixture.ts';
import { daysAgo } from '../../../support/ago.ts';
import { newTenant } from '../../../support/harness.ts';
import { sqlOf } from '../../../support/sql.ts';
import { type SeenPage, sharedDashboard } from '../dashboard-fixture.ts';
import { textOf } from '../page-text.ts';

const fixture = await sharedDashboard();

async function merchant(role = Role.DEVELOPER) {
  const refunds = refundsOf(fixture.harness, 'inProcess', newTenant());
  const { merchantId } = refunds.tenant;
  const visitor = await fixture.signIn({ [merchantId]: role });
  const openDaysAgo = (days: number, reason = `${days} days`) => {
    const at = Date.now() - days * DAY_MS;
    return refunds.open({ reason, occurredAt: timestampFromMs(at), paidAt: timestampFromMs(at - DAY_MS) });
  };
  return { ...refunds, merchantId, visitor, openDaysAgo, list: `/live/${merchantId}/refunds` };
}

const firstCells = ({ document }: SeenPage) =>
  document.querySelectorAll('tbody tr a').map(({ text }) => text);

it('lists cases awaiting a decision first, soonest deadline first, with the time left', async () => {
  const { visitor, list, openDaysAgo, open, refunds, write } = await merchant();
  for (const days of [2, 6.5, 4, 8]) await openDaysAgo(days);
  await open({ initiator: RefundInitiator.MERCHANT, reason: 'waits for nobody' });
  const { id } = await openDaysAgo(5);
  await refunds.cancelRefundCase({ ...write(), refundCaseId: id });
  const page = await visitor.get(list);
  expect(firstCells(page)).toEqual(['8 days', '6.5 days', '4 days', '2 days']);
  const left = page.document.querySelectorAll('td .deadline');
  expect(left.map((one) => one.querySelector('.badge')!.text)).toEqual([
    'was due yesterday',
    expect.stringMatching(/^due in 1[12] hours$/),
    expect.stringMatching(/^due in [23] days$/),
    expect.stringMatching(/^due in [45] days$/),
  ]);
  for (const one of left) expect(one.querySelector('time')!.getAttribute('datetime')).toMatch(/^2\d{3}-/);
});

it('filters by status, initiator, date, payment and order, also its file, and paginates', async () => {
  const { visitor, list, open, openDaysAgo, refunds, write } = await merchant();
  const orderId = randomUUID();
  const [first] = [await open({ reason: 'first', orderId }), await open({ reason: 'second' })];
  await open({ reason: 'third', initiator: RefundInitiator.MERCHANT });
  await refunds.cancelRefundCase({ ...write(), refundCaseId: first.id });
  const seen = async (query: string) => firstCells(await visitor.get(`${list}?${query}`));
  expect(await seen('status=')).toEqual(['third', 'second', 'first']);
  expect(await seen('status=CANCELED')).toEqual(['first']);
  expect(await seen('status=MERCHANT_REVIEW')).toEqual(['second']);
  expect(await seen('status=&initiator=MERCHANT')).toEqual(['third']);
  expect(await seen(`status=&payment=${first.paymentIntentId.toUpperCase()}`)).toEqual(['first']);
  expect(await seen(`status=&order=${orderId}`)).toEqual(['first']);
  expect(await seen('status=nonsense')).toHaveLength(3);
  const { document } = await visitor.get(`${list}?status=&order=${orderId}`);
  const file = await visitor.get(document.querySelector('a[download]')!.getAttribute('href')!);
  expect(file.text.match(/^item;/gm)).toHaveLength(1);
  const { requestedAt } = await openDaysAgo(3);
  const date = civilDateAt(timestampDate(requestedAt!));
  expect(await seen(`status=&from=${date}&to=${date}`)).toEqual(['3 days']);
  expect(await seen(`from=${date}&to=${date}`)).toEqual(['3 days']);
  expect(await seen(`status=&from=${addDays(date, 1)}`)).toHaveLength(3);
  const mistaken = await visitor.get(`${list}?status=&payment=12`);
  expect([mistaken.status, mistaken.document.querySelector('#payment-fault')?.text]).toEqual([
    422,
    expect.stringContaining('Not a valid ID'),
  ]);
  for (let n = 0; n < 25; n += 1) await open({ reason: `more ${n}` });
  const page = await visitor.get(list);
  const next = await visitor.get(page.document.querySelector('a[rel=next]')!.getAttribute('href')!);
  const all = [...firstCells(page), ...firstCells(next)];
  expect([all.length, new Set(all).size]).toEqual([27, 27]);
});

it('shows every detail of a case: blockers, disputes, the provider and its events', async () => {
  const { visitor, list, processing, refunds, write, open } = await merchant(Role.VIEWER);
  const disputed = await open({ saleId: randomUUID(), invoiceId: randomUUID(), evidenceCount: 3 });
  const blocked = { refundCaseId: disputed.id, blocker: RefundBlocker.KYC_NOT_APPROVED };
  await refunds.addBlocker({ ...write(), ...blocked });
  const disputes = [randomUUID(), randomUUID()];
  for (const disputeId of disputes) {
    await refunds.openDispute({ ...write(), disputeId, paymentIntentId: disputed.paymentIntentId });
  }
  await refunds.closeDispute({ ...write(), disputeId: disputes[0]!, outcome: DisputeOutcome.LOST });
  const page = await visitor.get(`${list}/${disputed.id}`);
  for (const text of [
    disputed.id,
    disputed.paymentIntentId,
    disputed.saleId!,
    disputed.invoiceId!,
    ...disputes,
    'Verification not approved',
    'Payment disputed',
    'KYC_NOT_APPROVED',
    'does not fit',
    'lost',
    'open',
    'refund.requested.v1',
    'MERCHANT_REVIEW',
    'Needs your decision',
    'Ask someone in finance, a developer or an administrator to decide.',
  ]) {
    expect(page.document.querySelector('main')!.text).toContain(text);
  }
  expect(page.document.querySelectorAll('main form')).toEqual([]);

  const { id } = await processing();
  const told = { providerRefundId: 're_77', submissionStatus: 'returned by bank' };
  const outcome = ProviderOutcome.SUCCEEDED;
  await refunds.recordProviderOutcome({ ...write(), refundCaseId: id, outcome, ...told });
  const paid = (await visitor.get(`${list}/${id}`)).document.querySelector('main')!;
  for (const text of ['re_77', 'returned by bank', 'Paid', 'refund.processing.v1'])
    expect(paid.text).toContain(text);
  expect(paid.querySelector('.card a')!.getAttribute('href')).toMatch(/\/funds\/statement\?from=[0-9-]{10}$/);
});

it('ends the timeline of a closed case with its outcome, and keeps that time when the provider reports more', async () => {
  const { visitor, list, processing, open, refunds, write } = await merchant(Role.VIEWER);
  const timeline = async (id: string) => {
    const steps = (await visitor.get(`${list}/${id}`)).document.querySelectorAll('.timeline li.done');
    return steps.map((step) => [
      step.querySelector('strong')!.text,
      step.querySelector('time')!.getAttribute('datetime'),
    ]);
  };
  const { id } = await processing();
  const report = (outcome: ProviderOutcome, submissionStatus?: string) =>
    refunds.recordProviderOutcome({ ...write(), refundCaseId: id, outcome, submissionStatus });
  const { refundCase: paid } = await report(ProviderOutcome.SUCCEEDED);
  const outcome = ['Refund paid to the customer', timestampDate(paid!.updatedAt!).toISOString()];
  expect((await timeline(id)).at(-1)).toEqual(outcome);
  await report(ProviderOutcome.SUBMITTED, 'sent');
  expect((await timeline(id)).at(-1)).toEqual(outcome);
  await report(ProviderOutcome.FAILED);
  const returned = await timeline(id);
  expect(returned.slice(-2).map(([name]) => name)).toEqual([outcome[0], 'Refund failed']);
  const { id: canceled } = await open();
  await refunds.cancelRefundCase({ ...write(), refundCaseId: canceled });
  expect((await timeline(canceled)).at(-1)![0]).toBe('Refund canceled');
});

it('does not announce the execution of a disputed case that the merchant approves', async () => {
  const { visitor, list, open, refunds, write } = await merchant();
  const { id, paymentIntentId } = await open();
  const decision = async () =>
    (await visitor.get(`${list}/${id}`)).document.querySelector('.decisions')!.text;
  const executed = 'will be executed and debited';
  expect(await decision()).toContain(executed);
  await refunds.openDispute({ ...write(), disputeId: randomUUID(), paymentIntentId });
  expect(await decision()).toContain('nothing is paid during the dispute');
  expect(await decision()).not.toContain(executed);
  const status = (await visitor.get(`${list}/${id}`)).document.querySelector('.card');
  expect(status!.text).toContain('Approve or contest by the deadline.');
});

it('asks for the response to a dispute while a case is reviewed, and says when nothing is needed', async () => {
  const { visitor, list, open, refunds, write } = await merchant();
  const { id: refundCaseId, paymentIntentId } = await open();
  await refunds.decideRefundCase({ ...write(), refundCaseId, decision: MerchantDecisionKind.CONTESTED });
  const card = async () => (await visitor.get(`${list}/${refundCaseId}`)).document.querySelector('.card')!;
  const status = async () => (await card()).text;
  const nothingNeeded = 'There is nothing you need to do';
  expect(await status()).toContain(nothingNeeded);
  const disputeId = randomUUID();
  await refunds.openDispute({ ...write(), disputeId, paymentIntentId });
  expect(await status()).toContain('A dispute of this payment awaits your response');
  expect((await card()).querySelector('a')!.getAttribute('href')).toContain(`/disputes/${disputeId}`);
  await refunds.respondToDispute({ ...write(), disputeId, text: 'Delivered.' });
  expect(await status()).toContain(nothingNeeded);
});

it('shows on the pages of a case and its sale what was refunded and lost, and what can still be refunded', async () => {
  const { visitor, list, refunds, tenant, write, open, processing } = await merchant(Role.VIEWER);
  const funds = fundsCaller(fixture.transport, tenant);
  const { saleId } = await funds.sell({ gross: 10_000n });
  const paidAt = daysAgo(1);
  const facts = { paymentIntentId: randomUUID(), saleId, paidAt, paidAmountMinor: 10_000n };
  const { id: refundCaseId } = await processing({ ...facts, amountMinor: 3_000n });
  await refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome: ProviderOutcome.SUCCEEDED });
  await open({ ...facts, amountMinor: 1_500n });
  const disputeId = randomUUID();
  const { paymentIntentId } = facts;
  await refunds.openDispute({ ...write(), disputeId, paymentIntentId, amountMinor: 2_000n });
  const pages = async () => [
    textOf((await visitor.get(`${list}/${refundCaseId}`)).document.querySelector('main')),
    textOf(
      (await visitor.get(list.replace('/refunds', `/funds/sales/${saleId}`))).document.querySelector('main'),
    ),
  ];
  for (const text of await pages()) {
    expect(text).toContain(
      'Paid by the customer R$100.00 Refunded R$30.00 In open refund cases R$15.00 Can still be refunded R$0.00 The payment is disputed',
    );
  }
  await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
  for (const text of await pages()) {
    expect(text).toContain(
      'In open refund cases R$15.00 Lost in disputes R$20.00 Can still be refunded R$35.00',
    );
  }
});

it('says that a refund may not be executed because a dispute of another payment of its sale was lost', async () => {
  const { visitor, list, refunds, tenant, write, open, start, debit } = await merchant(Role.VIEWER);
  const { saleId } = await fundsCaller(fixture.transport, tenant).sell({ gross: 10_000n });
  const paid = { saleId, paidAmountMinor: 5_000n, initiator: RefundInitiator.MERCHANT };
  const { id } = await open({ ...paid, amountMinor: 5_000n });
  await start(id);
  await debit(id, RefundDebitOutcome.INSUFFICIENT);
  const status = async () => (await visitor.get(`${list}/${id}`)).document.querySelector('.card')!;
  const lose = async (paymentIntentId: string) => {
    const disputeId = randomUUID();
    await refunds.openDispute({ ...write(), disputeId, paymentIntentId, saleId });
    await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
    return disputeId;
  };
  expect((await status()).text).not.toContain('was lost');
  const disputeId = await lose(randomUUID());
  expect((await status()).text).toContain('A dispute of another payment of this sale was lost.');
  const links = (await status()).querySelectorAll('a').map((link) => link.getAttribute('href'));
  expect(links).toEqual([
    list.replace(/refunds$/, 'funds'),
    list.replace(/refunds$/, `disputes/${disputeId}`),
  ]);
  await refunds.reverseDispute({ ...write(), disputeId });
  expect((await status()).text).not.toContain('was lost');
});

it('says why a refund was requested before it asks for the decision', async () => {
  const { visitor, list, open } = await merchant();
  const { id } = await open({ reason: 'arrived broken' });
  const { text } = (await visitor.get(`${list}/${id}`)).document.querySelector('main')!;
  expect(text).toMatch(/arrived broken.*Your decision/s);
});

it('offers the approval only once its form has been opened, and names the amount on the button', async () => {
  const { visitor, list, open } = await merchant();
  const { id } = await open({ amountMinor: 4_990n });
  const { document } = await visitor.get(`${list}/${id}`);
  const confirmation = document.querySelector('.decisions details')!;
  expect(confirmation.hasAttribute('open')).toBe(false);
  expect(confirmation.querySelector('form[action$="/approve"] button')!.text).toBe('Approve R$49.90');
  const tooLong = { approval_reason: 'x'.repeat(2_001) };
  const refused = await visitor.submit(`${list}/${id}`, '/approve', tooLong);
  expect(refused.document.querySelector('.decisions details')!.hasAttribute('open')).toBe(true);
});

it('approves, and contests with a reason; shows the status, and records the person', async () => {
  const { visitor, list, open, merchantId } = await merchant();
  const [one, two] = [await open(), await open()];
  const approved = await visitor.submit(`${list}/${one.id}`, '/approve');
  expect([approved.status, approved.text.includes('Approval recorded.')]).toEqual([200, true]);
  expect(approved.document.querySelector('.badge')!.text).toBe('Approved');
  expect(approved.document.querySelectorAll('main form')).toEqual([]);
  expect(approved.document.querySelector('.timeline')!.text).not.toContain('Deadline');
  const reason = 'Delivered on the 3rd.\nSigned for <b>by hand</b>.';
  const contested = await visitor.submit(`${list}/${two.id}`, '/contest', {
    contest_reason: reason.replace('\n', '\r\n'),
  });
  expect(contested.document.querySelector('.badge')!.text).toBe('Under review');
  expect(contested.document.querySelectorAll('.words').map(({ text }) => text)).toContain(reason);
  const accounts = createClient(AccountService, fixture.transport);
  const { entries } = await accounts.listAuditEntries({
    merchantId,
    environment: Environment.LIVE,
    peopleOnly: true,
  });
  const decisions = entries.filter(({ action }) => action.endsWith('DecideRefundCase'));
  expect(decisions.map(({ accountId }) => accountId)).toEqual([visitor.accountId, visitor.accountId]);
});

it('requires a reason of at most 2000 characters, and keeps the entered text', async () => {
  const { visitor, list, open, refunds, tenant } = await merchant();
  const { id } = await open();
  const empty = await visitor.submit(`${list}/${id}`, '/contest', { contest_reason: ' \r\n ' });
  expect([empty.status, empty.document.querySelector('#contest_reason-fault')?.text]).toEqual([
    422,
    'Enter the reason for contesting.',
  ]);
  expect(empty.document.querySelectorAll('[autofocus]').map(({ id }) => id)).toEqual(['contest_reason']);
  const long = '🙂'.repeat(2_001);
  const page = await visitor.submit(empty, '/contest', { contest_reason: long });
  expect([page.status, page.document.querySelector('#contest_reason')!.text]).toEqual([422, long]);
  expect(page.text).toContain('2,001');
  const approval = await visitor.submit(page, '/approve', { approval_reason: long });
  expect([approval.status, approval.document.querySelector('#approval_reason')!.text]).toEqual([422, long]);
  const done = await visitor.submit(page, '/contest', { contest_reason: '🙂'.repeat(2_000) });
  expect(done.document.querySelector('.badge')!.text).toBe('Under review');
  const { refundCase } = await refunds.getRefundCase({ ...tenant, refundCaseId: id });
  expect(refundCase!.merchantDecision!.reason).toBe('🙂'.repeat(2_000));
});

it('shows a case that was decided or ended in the meantime as it is now, and who decided what', async () => {
  const { visitor, merchantId, list, open, refunds, write } = await merchant();
  const colleague = await fixture.signIn({ [merchantId]: Role.FINANCE });
  const lateContest = async (meanwhile: (id: string) => Promise<unknown>) => {
    const { id } = await open();
    const page = await visitor.get(`${list}/${id}`);
    expect(page.document.querySelector('.timeline')!.text).toContain('Deadline');
    await meanwhile(id);
    const { status, path, document } = await visitor.submit(page, '/contest', { contest_reason: 'late' });
    expect([status, path, document.querySelector('.decisions')]).toEqual([
      200,
      `${list}/${id}?notice=late`,
      null,
    ]);
    return document.querySelector('.notice.busy')?.text;
  };
  const approved = 'This refund had already been approved by';
  const decision = MerchantDecisionKind.APPROVED;
  expect(await lateContest((id) => colleague.submit(`${list}/${id}`, '/approve'))).toMatch(
    new RegExp(`^${approved} Ana on \\w+ \\d+, 20\\d\\d, .*Nothing else was recorded`),
  );
  expect(await lateContest((id) => visitor.submit(`${list}/${id}`, '/approve'))).toContain(
    `${approved} you on`,
  );
  const busy = async (id: string) => {
    await visitor.submit(`${list}/${id}`, '/approve');
    await sqlOf(
      fixture.harness,
      `insert into platform.audit_entry
         (merchant_id, environment, id, caller, account_id, action, request, ip_address, request_id, occurred_at)
       select $1, 'live', uuidv7(), 'dashboard', $2, 'other', '{}', '203.0.113.9', 'req_1', now()
         from generate_series(1, 150)`,
      [merchantId, colleague.accountId],
    );
  };
  expect(await lateContest(busy)).toContain(`${approved} you on`);
  const viewer = await fixture.signIn({ [merchantId]: Role.VIEWER });
  const { id } = await open();
  await colleague.submit(`${list}/${id}`, '/approve');
  const seen = await viewer.get(`${list}/${id}?notice=late`);
  expect(seen.document.querySelector('.notice.busy')!.text).toContain(`${approved} your company on`);
  expect(
    await lateContest((refundCaseId) => refunds.decideRefundCase({ ...write(), refundCaseId, decision })),
  ).toContain(`${approved} your company on`);
  expect(
    await lateContest((id) => visitor.submit(`${list}/${id}`, '/contest', { contest_reason: 'not ours' })),
  ).toContain('already been contested by you');
  expect(await lateContest((refundCaseId) => refunds.cancelRefundCase({ ...write(), refundCaseId }))).toMatch(
    /^The request was withdrawn before your decision/,
  );
  expect(
    await lateContest((id) =>
      sqlOf(
        fixture.harness,
        'update refunds.refund_case set merchant_review_deadline_at = now() where id = $1',
        [id],
      ).then(() => refunds.expireMerchantReview({ ...write(), refundCaseId: id })),
    ),
  ).toMatch(/^The deadline passed before your decision/);
});
