import { randomUUID } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { expect, it, vi } from 'vitest';
import {
  AccountService,
  Language,
  MailTopic,
  Role,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { RecordPayoutAnswerRequestSchema } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { ApiKeyScope, ApiKeyService } from '../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { BlockOutcome, BlockReason } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  ApprovalMode,
  DisputeOutcome,
  MerchantDecisionKind,
  ProviderOutcome,
  RefundBlocker,
  RefundInitiator,
  ReviewDecision,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  type NoticeKind,
  workflowId,
  workflowType,
} from '../../../services/contracts/accounts/notify-contact.contract.ts';
import { DAY_MS } from '../../../services/platform/durations.ts';
import { TASK_QUEUE } from '../../../workflows/temporal/task-queue.ts';
import { accountsFixture } from '../../services/accounts/accounts-fixture.ts';
import { advancesCaller } from '../../services/advances/advances-caller.ts';
import { fundsCaller } from '../../services/funds/funds-caller.ts';
import { refundsOf } from '../../services/refunds/refund-case-fixture.ts';
import { newTenant, newWrite } from '../../support/harness.ts';
import { sqlOf } from '../../support/sql.ts';
import { DASHBOARD, noticeHandle, startNotices } from './notice-fixture.ts';

const WAIT = { timeout: 40_000, interval: 100 };

const { harness, temporal, inbox } = await startNotices();

type TestTenant = Readonly<{ merchantId: string; environment: Environment }>;

/** A merchant's finance person, who gets mail, and an administrator, who has opted out. */
async function staff(tenant: TestTenant, unwanted: MailTopic, language?: Language) {
  const { client, join } = accountsFixture(harness.transports.inProcess);
  if (language) {
    const email = 'webhooks@shop.example';
    await client.setMerchantContact({ ...newWrite(tenant), email, language });
  }
  const [finance, admin] = [await join(tenant, Role.FINANCE), await join(tenant, Role.ADMIN)];
  await client.setMailPreferences({ accountId: admin.accountId, unwanted: [unwanted] });
  const about = (id: string, { email }: { email: string }) =>
    inbox.mailTo(email).flatMap(({ mail: { subject = '', text = '' } }) => {
      const link = `${DASHBOARD}/live/${tenant.merchantId}/`;
      return text.includes(link) && text.includes(`/${id}\n`) ? [{ subject, text }] : [];
    });
  return {
    /** The last mail about a dispute or an advance, once there are as many. */
    mail: async (id: string, count = 1) => {
      await vi.waitFor(() => expect(about(id, finance)).toHaveLength(count), WAIT);
      expect(about(id, admin)).toEqual([]);
      return about(id, finance).at(-1)!;
    },
    mailCount: (id: string) => about(id, finance).length,
  };
}

/** Without an invitation, which is mailed unless it is accepted at once. */
const keyMailsTo = ({ email }: { email: string }) =>
  inbox.mailTo(email).flatMap(({ mail }) => (mail.text?.includes('/api-keys\n') ? [mail] : []));

const resultOf = (kind: NoticeKind, id: string) =>
  vi.waitFor(() => noticeHandle(temporal, kind, id).result(), WAIT);

it('mails those who want it about a dispute that is won, lost or reversed', async () => {
  const { tenant, refunds, write, open: openCase } = refundsOf(harness, 'inProcess', newTenant());
  const { mail } = await staff(tenant, MailTopic.DISPUTE_DEADLINES);
  // Too far in the future for a mail about the response.
  const dueAt = timestampFromMs(Date.now() + 10 * DAY_MS);
  const open = async (of: { paymentIntentId?: string; saleId?: string; amountMinor?: bigint }) => {
    const dispute = { disputeId: randomUUID(), paymentIntentId: randomUUID(), ...of };
    await refunds.openDispute({ ...write(), ...dispute, dueAt });
    return dispute.disputeId;
  };
  const [won, lost] = [await open({ amountMinor: 12_345n }), await open({ amountMinor: 12_345n })];
  await refunds.closeDispute({ ...write(), disputeId: won, outcome: DisputeOutcome.WON });
  const aboutWon = await mail(won);
  expect(aboutWon.subject).toBe(`Disputa ganha: ${tenant.merchantId}`);
  expect(aboutWon.text).toMatch(/\nValor: R\$\s123,45\n\nNada é descontado/);
  expect(aboutWon.text).toContain(`\n   ${DASHBOARD}/live/${tenant.merchantId}/disputes/${won}\n`);
  expect(aboutWon.text).toContain(`recebe: ${DASHBOARD}/account\n`);
  await refunds.closeDispute({ ...write(), disputeId: lost, outcome: DisputeOutcome.LOST });
  const aboutLost = await mail(lost);
  expect(aboutLost.subject).toBe(`Disputa perdida: ${tenant.merchantId}`);
  // Refunds may have left less of it.
  expect(aboutLost.text).toMatch(
    /\nValor: R\$\s123,45\n\nO valor é descontado dos seus recebíveis, menos o que/,
  );
  expect(await resultOf('DISPUTE_ENDED', lost)).toMatchObject({ outcome: 'NOTIFIED', sent: 1 });
  await refunds.reverseDispute({ ...write(), disputeId: lost });
  expect((await mail(lost, 2)).subject).toBe(`Disputa revertida a seu favor: ${tenant.merchantId}`);
  const { paymentIntentId } = await openCase({ saleId: randomUUID() });
  const rest = await open({ paymentIntentId });
  await refunds.closeDispute({ ...write(), disputeId: rest, outcome: DisputeOutcome.LOST });
  expect((await mail(rest)).text).toMatch(/\nValor: R\$\s50,00\n\nO que resta do pagamento é descontado/);
  const { paymentIntentId: twice } = await openCase({});
  for (const amountMinor of [4_000n, 3_000n]) {
    const disputeId = await open({ paymentIntentId: twice, amountMinor });
    await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
    // Also of the second one, of which only 10.00 is deducted: the text says that it is less.
    expect((await mail(disputeId)).text).toContain(`${amountMinor / 100n},00\n\nO valor é descontado`);
  }
});

it('mails those who want it about funds that are held until the merchant is verified', async () => {
  const { tenant, sell, block } = fundsCaller(harness.transports.inProcess, newTenant());
  const { mail } = await staff(tenant, MailTopic.DEBTS, Language.EN);
  const { saleId } = await sell({ gross: 10_000n });
  await block(saleId, undefined, BlockReason.KYC_PENDING);
  const { subject, text } = await mail('funds');
  expect(subject).toBe(`Funds held until you are verified: ${tenant.merchantId}`);
  expect(text).toContain(`\n   ${DASHBOARD}/live/${tenant.merchantId}/funds\n`);
});

it('mails about later holds with a Message-ID of their own, although an earlier one is still open', async () => {
  const { tenant, block, unblock } = fundsCaller(harness.transports.inProcess, newTenant());
  const { email } = await accountsFixture(harness.transports.inProcess).join(tenant, Role.FINANCE);
  const mails = () => inbox.mailTo(email).filter(({ mail }) => mail.text?.includes('/funds\n'));
  // Recorded too late for a mail.
  await block(randomUUID(), randomUUID(), BlockReason.KYC_PENDING, '2020-06-22');
  for (const count of [1, 2]) {
    const [saleId, sourceId] = [randomUUID(), randomUUID()];
    await block(saleId, sourceId, BlockReason.KYC_PENDING);
    await vi.waitFor(() => expect(mails()).toHaveLength(count), WAIT);
    await resultOf('FUNDS_HELD', tenant.merchantId);
    await unblock(saleId, sourceId, BlockOutcome.RETURNED, BlockReason.KYC_PENDING);
  }
  // Mail servers drop a mail with a known one.
  expect(new Set(mails().map(({ mail }) => mail.messageId)).size).toBe(2);
});

it('mails those who want it about a refund that the balance does not cover, and its cancellation, even if it is disputed by then', async () => {
  const { tenant, refunds, write, open, start } = refundsOf(harness, 'inProcess', newTenant());
  const { mail } = await staff(tenant, MailTopic.REFUND_DEADLINES, Language.EN);
  const { id, paymentIntentId } = await open({ initiator: RefundInitiator.MERCHANT });
  await start(id);
  const { subject, text } = await mail(id);
  expect(subject).toBe(`Refund awaits your balance: ${tenant.merchantId}`);
  expect(text).toContain('Amount: R$10.00\n\nThe refund is executed once the balance covers it.');
  expect(text).toContain(`\n   ${DASHBOARD}/live/${tenant.merchantId}/refunds/${id}\n`);
  await refunds.openDispute({ ...write(), disputeId: randomUUID(), paymentIntentId });
  await refunds.cancelRefundCase({ ...write(), refundCaseId: id });
  expect((await mail(id, 2)).subject).toBe(`Approved refund canceled: ${tenant.merchantId}`);
});

it('mails those who want it about approved refunds that their verification blocks', async () => {
  const { tenant, refunds, write, open } = refundsOf(harness, 'inProcess', newTenant());
  const { mail } = await staff(tenant, MailTopic.REFUND_DEADLINES, Language.EN);
  for (const blocker of [RefundBlocker.PAYMENT_NOT_LIVE, RefundBlocker.KYC_NOT_APPROVED]) {
    const { id: refundCaseId } = await open({ initiator: RefundInitiator.MERCHANT });
    await refunds.addBlocker({ ...write(), refundCaseId, blocker });
  }
  const { subject, text } = await mail('refunds?status=BLOCKED');
  expect(subject).toBe(`Refunds await your verification: ${tenant.merchantId}`);
  expect(text).toContain('once the verification is approved.');
  expect(text).toContain(`\n   ${DASHBOARD}/live/${tenant.merchantId}/refunds?status=BLOCKED\n`);
});

it('mails those who want it about a refund that fails', async () => {
  const { tenant, refunds, write, processing } = refundsOf(harness, 'inProcess', newTenant());
  const { mail } = await staff(tenant, MailTopic.REFUND_DEADLINES);
  const { id: refundCaseId } = await processing();
  await refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome: ProviderOutcome.FAILED });
  const { subject, text } = await mail(refundCaseId);
  expect(subject).toBe(`Reembolso com falha: ${tenant.merchantId}`);
  expect(text).toContain('O valor volta ao seu saldo.');
  expect(text).toContain(`/live/${tenant.merchantId}/refunds/${refundCaseId}\n`);
});

it('mails those who want it about how a refund that they contested was decided, and about one that was rejected', async () => {
  const { tenant, refunds, write, open } = refundsOf(harness, 'inProcess', newTenant());
  const { mail } = await staff(tenant, MailTopic.REFUND_DEADLINES, Language.EN);
  const review = async (refundCaseId: string, decision: ReviewDecision) =>
    refunds.reviewRefundCase({ ...write(), refundCaseId, decision, approvalMode: ApprovalMode.OPERATIONS });
  const contested = async () => {
    const { id: refundCaseId } = await open();
    const contest = { decision: MerchantDecisionKind.CONTESTED, reason: 'delivered' };
    await refunds.decideRefundCase({ ...write(), refundCaseId, ...contest });
    return refundCaseId;
  };
  const [approved, rejected, canceled] = [await contested(), await contested(), await contested()];
  await review(approved, ReviewDecision.APPROVE);
  const about = await mail(approved);
  expect(about.subject).toBe(`Contested refund approved: ${tenant.merchantId}`);
  expect(about.text).toContain('Amount: R$10.00\n\nThe amount is debited from your balance');
  expect(about.text).toContain(`\n   ${DASHBOARD}/live/${tenant.merchantId}/refunds/${approved}\n`);
  await review(rejected, ReviewDecision.REJECT);
  const aboutRejected = await mail(rejected);
  expect(aboutRejected.subject).toBe(`Refund rejected: ${tenant.merchantId}`);
  // The customer may have the amount from a dispute, which is deducted.
  expect(aboutRejected.text).toContain(
    'The refund will not be paid to the customer, and nothing will be debited from your balance for it.',
  );
  await refunds.cancelRefundCase({ ...write(), refundCaseId: canceled });
  expect((await mail(canceled)).subject).toBe(`Contested refund canceled: ${tenant.merchantId}`);
});

it('mails developers who want it about an API key that expires soon', async () => {
  const tenant = newTenant();
  const { join } = accountsFixture(harness.transports.inProcess);
  const [developer, finance] = [await join(tenant, Role.DEVELOPER), await join(tenant, Role.FINANCE)];
  await staff(tenant, MailTopic.API_KEYS, Language.EN);
  const client = createClient(ApiKeyService, harness.transports.inProcess);
  const issue = async (days: number) => {
    const expiresAt = timestampFromMs(Date.now() + days * DAY_MS);
    const key = { ...newWrite(tenant), name: 'Till 7', scopes: [ApiKeyScope.FUNDS_READ] };
    return (await client.issueApiKey({ ...key, expiresAt })).apiKey!;
  };
  const [soon, later, revoked] = [await issue(6), await issue(8), await issue(6)];
  // According to the database, whose clock is a minute ahead, a week before it expires.
  const justDue = await issue(7 + 1 / 1440);
  await client.revokeApiKey({ ...newWrite(tenant), apiKeyId: revoked.id });
  const { merchantId } = tenant;
  const start = ({ id }: { id: string }) =>
    temporal.client.workflow.execute(workflowType, {
      taskQueue: TASK_QUEUE,
      workflowId: workflowId('API_KEY_EXPIRING', id),
      args: [{ merchantId, environment: 'live', kind: 'API_KEY_EXPIRING', subjectId: id }],
    });
  expect(await start(soon)).toMatchObject({ outcome: 'NOTIFIED', sent: 1 });
  for (const key of [later, revoked]) expect(await start(key)).toEqual({ outcome: 'NO_LONGER_DUE' });
  const [first, ...more] = keyMailsTo(developer);
  expect([more, keyMailsTo(finance)]).toEqual([[], []]);
  expect(await start(justDue)).toMatchObject({ outcome: 'NOTIFIED', sent: 1 });
  expect(first!.subject).toBe(`An API key expires soon: ${merchantId}`);
  expect(first!.text).toContain(`\nKey: Till 7 (${soon.hint}…)\nExpires: `);
  expect(first!.text).toContain('\nLast used: never\n');
  expect(first!.text).toContain(`\n   ${DASHBOARD}/live/${merchantId}/api-keys\n`);
});

it('mails about an API key that was replaced and is still used, until no system uses it', async () => {
  const tenant = newTenant();
  const { join } = accountsFixture(harness.transports.inProcess);
  const developer = await join(tenant, Role.DEVELOPER);
  await staff(tenant, MailTopic.API_KEYS, Language.EN);
  const client = createClient(ApiKeyService, harness.transports.inProcess);
  const write = () => newWrite(tenant);
  const { apiKey } = await client.issueApiKey({
    ...write(),
    // A name must not look like another line of the mail.
    name: 'Till\r\n\r\n\u2028\u202E8',
    scopes: [ApiKeyScope.FUNDS_READ],
  });
  const { id, hint } = apiKey!;
  const accounts = createClient(AccountService, harness.transports.inProcess);
  await accounts.setMerchantName({ ...write(), name: 'Loja\u0085\u2028Aurora' });
  await client.rotateApiKey({ ...write(), apiKeyId: id, overlapSeconds: 86_400 });
  const times = (hoursAgo: number, usedHoursAgo: number) =>
    sqlOf(
      harness,
      `update api_keys.api_key set rotated_at = now() - interval '1 hour' * $2,
         expires_at = now() + interval '1 hour' * (24 - $2), last_used_at = now() - interval '1 hour' * $3 where id = $1`,
      [id, hoursAgo, usedHoursAgo],
    );
  const start = (run: number) =>
    temporal.client.workflow.execute(workflowType, {
      taskQueue: TASK_QUEUE,
      workflowId: `${workflowId('API_KEY_EXPIRING', id)}-${run}`,
      args: [{ merchantId: tenant.merchantId, environment: 'live', kind: 'API_KEY_EXPIRING', subjectId: id }],
    });
  await times(11, 0);
  expect(await start(1)).toEqual({ outcome: 'NO_LONGER_DUE' });
  await times(13, 7);
  expect(await start(2)).toEqual({ outcome: 'NO_LONGER_DUE' });
  await times(13, 1);
  expect(await start(3)).toMatchObject({ outcome: 'NOTIFIED', sent: 1 });
  const [mail] = keyMailsTo(developer);
  expect(mail!.subject).toBe('A replaced API key is still in use: Loja Aurora');
  expect(mail!.text).toContain('\nMerchant: Loja Aurora\n');
  expect(mail!.text).toContain(`\nOld key: Till 8 (${hint}…)\nReplaced: `);
});

it('mails those who want it about an advance that is refused', async () => {
  const { client, funds, quote, request } = await advancesCaller(harness.transports.inProcess);
  const { mail } = await staff(funds.tenant, MailTopic.ADVANCES, Language.EN);
  const { id } = await request((await quote()).id);
  await client.refuseAdvance({ ...funds.write(), advanceRequestId: id, reason: 'not this time' });
  const { subject, text } = await mail(id);
  expect(subject).toBe(`Advance refused: ${funds.tenant.merchantId}`);
  expect(text).toContain('Amount: R$144.00\n\nThe installments will be released');
  expect(text).toContain(`/advances/${id}\n`);
  // What people write stays in the dashboard.
  expect(text).not.toContain('not this time');
});

/** The payout of an advance that the provider has refused until it counts as stuck; its notice waits for two hours. */
async function stuckPayout() {
  const { client, funds, quote, request, approve, release } = await advancesCaller(
    harness.transports.inProcess,
  );
  const { merchantId } = funds.tenant;
  const { mail, mailCount } = await staff(funds.tenant, MailTopic.ADVANCES, Language.EN);
  const { id } = await request((await quote()).id);
  await approve(id);
  await release(id);
  const record = (answer: MessageInitShape<typeof RecordPayoutAnswerRequestSchema>['answer']) =>
    client.recordPayoutAnswer({ ...funds.write(), advanceRequestId: id, answer });
  const refuse = () => record({ case: 'refused', value: 'no bank account' });
  const accept = () => record({ case: 'accepted', value: { providerPayoutId: 'po_1' } });
  const payBack = () =>
    record({ case: 'returned', value: { providerPayoutId: 'po_1', reason: 'account closed' } });
  const handle = noticeHandle(temporal, 'ADVANCE_UNPAID', id);
  for (let attempts = 0; attempts < 4; attempts += 1) await refuse();
  await expect(handle.describe()).rejects.toThrow(/not found/i);
  for (let attempts = 0; attempts < 2; attempts += 1) await refuse();
  await vi.waitFor(async () => {
    const { events } = await handle.fetchHistory();
    const timer = events!.find((event) => event.timerStartedEventAttributes)?.timerStartedEventAttributes;
    const seconds = Number(timer!.startToFireTimeout!.seconds);
    expect(seconds).toBeGreaterThan(7_100);
    expect(seconds).toBeLessThanOrEqual(7_200);
  }, WAIT);
  expect(mailCount(id)).toBe(0);
  return { id, merchantId, handle, accept, payBack, mail: (count?: number) => mail(id, count) };
}

it('mails about a payout if it is refused for two hours, and if the bank returns it after that', async () => {
  const { id, merchantId, handle, accept, payBack, mail } = await stuckPayout();
  // Instead of two hours.
  await handle.terminate();
  const start = () =>
    temporal.client.workflow.execute(workflowType, {
      taskQueue: TASK_QUEUE,
      workflowId: handle.workflowId,
      args: [{ merchantId, environment: 'live', kind: 'ADVANCE_UNPAID', subjectId: id }],
    });
  expect(await start()).toMatchObject({ outcome: 'NOTIFIED', sent: 1 });
  const delayed = await mail();
  expect(delayed.subject).toBe(`Advance payout delayed: ${merchantId}`);
  expect(delayed.text).toMatch(/Amount: R\$\d+\.\d\d\n\nWe keep trying/);
  await accept();
  // The acceptance cancels the notice of this id, and must not cancel the next one.
  const pending = 'select 1 from platform.outbox_command where workflow_id = $1';
  await vi.waitFor(async () => expect(await sqlOf(harness, pending, [handle.workflowId])).toEqual([]), WAIT);
  expect(await start()).toEqual({ outcome: 'NO_LONGER_DUE' });
  for (let times = 0; times < 2; times += 1) await payBack();
  expect((await mail(2)).subject).toBe(`Advance payout returned: ${merchantId}`);
});

it('mails at once about a payout that the bank returns within two hours of being refused', async () => {
  const { merchantId, handle, accept, payBack, mail } = await stuckPayout();
  await accept();
  await vi.waitFor(async () => expect((await handle.describe()).status.name).toBe('CANCELLED'), WAIT);
  await payBack();
  expect((await mail()).subject).toBe(`Advance payout returned: ${merchantId}`);
});

it('mails about a returned payout soon, even if the start of the notice about its delay came after its cancellation', async () => {
  const { id, merchantId, handle, accept, payBack, mail } = await stuckPayout();
  await accept();
  const isCanceled = () =>
    vi.waitFor(async () => expect((await handle.describe()).status.name).toBe('CANCELLED'), WAIT);
  await isCanceled();
  const quietUntil = new Date(Date.now() + 7_200_000).toISOString();
  await temporal.client.workflow.start(workflowType, {
    taskQueue: TASK_QUEUE,
    workflowId: handle.workflowId,
    args: [{ merchantId, environment: 'live', kind: 'ADVANCE_UNPAID', subjectId: id, quietUntil }],
  });
  await payBack();
  await isCanceled();
  // Instead of a minute.
  const resend = `update platform.outbox_command set due_at = now()
    where workflow_id = $1 and kind = 'START' and starts > 0 returning id`;
  await vi.waitFor(
    async () => expect(await sqlOf(harness, resend, [handle.workflowId])).toHaveLength(1),
    WAIT,
  );
  expect((await mail()).subject).toBe(`Advance payout returned: ${merchantId}`);
});
