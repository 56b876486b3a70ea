import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { Language, MailTopic, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  type NotifyContactInput,
  workflowType,
} from '../../../services/contracts/accounts/notify-contact.contract.ts';
import { TASK_QUEUE } from '../../../workflows/temporal/task-queue.ts';
import { accountsFixture } from '../../services/accounts/accounts-fixture.ts';
import { fundsCaller } from '../../services/funds/funds-caller.ts';
import { refundsOf } from '../../services/refunds/refund-case-fixture.ts';
import { exhausted } from '../../services/webhooks/subscriptions/subscription-errors.ts';
import { daysAgo } from '../../support/ago.ts';
import { newTenant, newWrite } from '../../support/harness.ts';
import { startHarnessWorker } from '../../support/harness-worker.ts';
import { historyText } from '../../support/recorded-histories.ts';
import { createTestNamespace } from '../../support/temporal-namespace.ts';
import {
  DASHBOARD,
  FailingMerchant,
  mailTo,
  noticeHandle,
  startEndpoints,
  startNoticeHarness,
  startNotices,
} from './notice-fixture.ts';
import type { Rejection } from './smtp-inbox.ts';

const endpoints = await startEndpoints();
afterAll(() => endpoints.receiver[Symbol.asyncDispose]());
const { harness, temporal, inbox } = await startNotices();

const newMerchant = (language?: Language) => new FailingMerchant(harness, endpoints).subscribe(language);
/** A merchant whose webhook fails, once the mail server has refused the mail about it so often. */
async function refused(rejection: Rejection, attempts = 1) {
  const merchant = new FailingMerchant(harness, endpoints);
  inbox.rejections.set(merchant.email, rejection);
  await merchant.subscribe();
  await merchant.fail();
  const refusals = () => expect(inbox.attempts(merchant.email)).toBeGreaterThanOrEqual(attempts);
  await vi.waitFor(refusals, { timeout: 40_000 });
  return merchant;
}
const waitUntilClosed = (handle: ReturnType<typeof noticeHandle>) =>
  vi.waitFor(() => handle.result(), { timeout: 120_000, interval: 50 });

/** Waits for the quiet period, which begins once the notice is sent. */
const hasNotified = (handle: ReturnType<typeof noticeHandle>) =>
  vi.waitFor(
    async () => {
      const { events } = await handle.fetchHistory();
      expect(events?.some(({ timerStartedEventAttributes: timer }) => timer)).toBe(true);
    },
    { timeout: 40_000, interval: 50 },
  );

it('mails those who may act about refunds and disputes that are due soon, and about debts, unless they opted out', async () => {
  const { tenant, open, refunds, write } = refundsOf(harness, 'inProcess', newTenant());
  const { client, join } = accountsFixture(harness.transports.inProcess);
  await client.setMerchantName({ ...write(), name: 'Loja Aurora' });
  const [finance, admin, developer, viewer] = [
    await join(tenant, Role.FINANCE),
    await join(tenant, Role.ADMIN),
    await join(tenant, Role.DEVELOPER),
    await join(tenant, Role.VIEWER),
  ];
  const unwanted = [MailTopic.REFUND_DEADLINES, MailTopic.DISPUTE_DEADLINES, MailTopic.DEBTS];
  for (const { accountId } of [developer, admin]) await client.setMailPreferences({ accountId, unwanted });
  const due = await open({ amountMinor: 4_990n, occurredAt: daysAgo(6.5), paidAt: daysAgo(7) });
  // Its deadline is a week away: it is not due soon.
  const later = await open({ paymentIntentId: randomUUID() });
  const disputeId = randomUUID();
  const dispute = { disputeId, paymentIntentId: randomUUID(), amountMinor: 12_345n };
  await refunds.openDispute({ ...write(), ...dispute, occurredAt: daysAgo(9), dueAt: daysAgo(-0.5) });
  const dateless = { disputeId: randomUUID(), paymentIntentId: randomUUID() };
  await refunds.openDispute({ ...write(), ...dateless });
  await fundsCaller(harness.transports.inProcess, tenant).deduct(12_300n);
  const mailsTo = (email: string) =>
    inbox.mailTo(email).flatMap(({ mail }) => (mail.subject!.startsWith('Convite') ? [] : [mail]));
  await vi.waitFor(() => expect(mailsTo(finance.email)).toHaveLength(4), { timeout: 40_000 });
  const mails = mailsTo(finance.email);
  const mailWith = (text: string) => mails.find((mail) => mail.text!.includes(text));
  const [aboutRefund, aboutDispute] = [mailWith('/refunds/'), mailWith(disputeId)];
  expect(mailWith(dateless.disputeId)!.text).toContain('Não sabemos o prazo do banco');
  const base = `${DASHBOARD}/live/${tenant.merchantId}`;
  expect(aboutDispute!.subject).toBe('Uma disputa aguarda sua resposta: Loja Aurora');
  expect(aboutDispute!.text).toMatch(/Valor: R\$\s123,45\nResponda até: /);
  expect(aboutDispute!.text).toContain(`${base}/disputes/${disputeId}
`);
  const aboutDebt = mailWith(`${base}/funds\n`);
  expect(aboutDebt!.subject).toBe('Sua empresa tem um débito em aberto: Loja Aurora');
  expect(aboutDebt!.text).toMatch(/Falta: R\$\s123,00\n/);
  expect(aboutRefund!.subject).toBe('Um reembolso vence em breve: Loja Aurora');
  expect(aboutRefund!.text).toContain('Este reembolso aguarda a decisão da sua empresa');
  expect(aboutRefund!.text).toMatch(/R\$\s49,90, decida até \d+ de /);
  expect(aboutRefund!.text).toContain(`${base}/refunds/${due.id}
`);
  expect(aboutRefund!.text).not.toContain(later.id);
  expect(aboutRefund!.text).toContain(`recebe: ${DASHBOARD}/account
`);
  for (const { email } of [admin, developer, viewer]) expect(mailsTo(email)).toEqual([]);
});

describe.concurrent('the merchant contact', () => {
  it('gets a mail in English when a webhook enters ERROR: what, since when, why, what to do', async () => {
    const merchant = await newMerchant(Language.EN);
    await merchant.fail(503);
    const { mail, to, from, source } = await mailTo(inbox, merchant.email);
    expect({ to, from }).toEqual({ to: [merchant.email], from: 'no-reply@payments.example' });
    const { host } = new URL(merchant.url);
    expect(mail.subject).toBe(`Webhook failing (sandbox): ${host}`);
    expect(mail.to).toEqual([{ address: merchant.email, name: '' }]);
    expect(mail.from).toEqual({ address: 'no-reply@payments.example', name: 'Pagamentos' });
    expect(mail.text).toContain(`URL: ${merchant.url}\n`);
    expect(mail.text).toContain('Environment: sandbox\n');
    expect(mail.text).toMatch(/Since: \w+ \d+, \d{4} at \d+:\d\d\s[AP]M \(Brasília time\)\n/);
    expect(mail.text).toContain('Reason: Your server responded with HTTP status 503.\n');
    const link = `${DASHBOARD}/sandbox/${merchant.tenant.merchantId}/webhooks/${merchant.subscriptionId}`;
    expect(mail.text).toContain(`${link}\n`);
    expect(mail.headers).toContainEqual(
      expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }),
    );
    expect(mail.html).toBeUndefined();
    // No data of the undelivered event, and no secrets.
    expect(source).not.toMatch(/whsec_|paymentMethod|9007199254740991/);
  });

  it('gets a mail in Portuguese when that is their language', async () => {
    const merchant = await newMerchant(Language.PT_BR);
    await merchant.fail(302);
    const { mail } = await mailTo(inbox, merchant.email);
    expect(mail.subject).toBe(`Webhook com falha (testes): ${new URL(merchant.url).host}`);
    expect(mail.text).toContain('Motivo: O seu servidor respondeu com o status HTTP 302.\n');
    expect(mail.text).toMatch(/Desde: \d+ de \S+ de \d{4} às \d\d:\d\d \(horário de Brasília\)\n/);
  });

  it('gets a mail about a webhook that is failing before a delivery has run out of attempts', async () => {
    const [merchant, healthy] = [await newMerchant(), await newMerchant()];
    const { subscriptionId } = merchant;
    for (const { fixture, tenant, subscriptionId: id } of [merchant, healthy]) {
      const request = { ...tenant, subscriptionId: id, withHealth: true };
      const isCounted = async () =>
        expect(
          (await fixture.subscriptions.getWebhookSubscription(request)).subscription!.health,
        ).toBeDefined();
      await vi.waitFor(isCounted, { timeout: 40_000, interval: 50 });
    }
    await merchant.fixture.sql(
      `update webhooks.endpoint_health set failing_since = now() - interval '15 minutes', http_status = 502
        where subscription_id = $1`,
      [subscriptionId],
    );
    const handle = await start(merchant, 'WEBHOOK_FAILING', subscriptionId);
    const { mail, to } = await mailTo(inbox, merchant.email);
    expect(to).toEqual([merchant.email]);
    expect(mail.subject).toBe(`Webhook failing (sandbox): ${new URL(merchant.url).host}`);
    expect(mail.text).toContain('Last response: Your server responded with HTTP status 502.\n');
    expect(mail.text).toContain('Nothing is lost');
    await hasNotified(handle);
    const none = await start(healthy, 'WEBHOOK_FAILING', healthy.subscriptionId);
    expect(await waitUntilClosed(none)).toEqual({ outcome: 'NO_LONGER_DUE' });
  });

  it('gets a mail when a 410 disables a webhook, with the reason', async () => {
    const merchant = await newMerchant();
    await merchant.fail(410);
    const { mail } = await mailTo(inbox, merchant.email);
    expect(mail.subject).toMatch(/^Webhook disabled \(sandbox\): /);
    expect(mail.text).toContain('HTTP 410 (Gone)');
    expect(mail.text).toContain('Reactivate the webhook in the dashboard');
  });

  it('gets one mail an hour about a webhook that keeps failing and recovering', async () => {
    const merchant = await newMerchant();
    await merchant.fail();
    await mailTo(inbox, merchant.email);
    const handle = noticeHandle(temporal, 'WEBHOOK_ERROR', merchant.subscriptionId);
    await hasNotified(handle);
    await merchant.recover();
    await merchant.fail();
    await merchant.recover();
    await merchant.fail();
    const signals = async () =>
      (await handle.fetchHistory()).events!.filter((event) => event.workflowExecutionSignaledEventAttributes);
    await vi.waitFor(async () => expect(await signals()).toHaveLength(3), { timeout: 40_000 });
    const { events } = await handle.fetchHistory();
    const timers = events!.flatMap(({ timerStartedEventAttributes: timer }) => (timer ? [timer] : []));
    expect(timers.map(({ startToFireTimeout }) => Number(startToFireTimeout!.seconds))).toEqual([3_600]);
    expect((await handle.describe()).status.name).toBe('RUNNING');
    expect(inbox.mailTo(merchant.email)).toHaveLength(1);
  });

  it('gets no mail about a webhook that has recovered before the mail was accepted', async () => {
    const merchant = await refused({ at: 'RCPT', code: 451 });
    await merchant.recover();
    inbox.rejections.delete(merchant.email);
    const handle = noticeHandle(temporal, 'WEBHOOK_ERROR', merchant.subscriptionId);
    expect(await waitUntilClosed(handle)).toEqual({ outcome: 'NO_LONGER_DUE' });
    expect(inbox.mailTo(merchant.email)).toEqual([]);
  });

  it('gets the mail later when the mail server defers it', async () => {
    const merchant = await refused({ at: 'DATA', code: 452 }, 2);
    expect(inbox.mailTo(merchant.email)).toEqual([]);
    inbox.rejections.delete(merchant.email);
    await mailTo(inbox, merchant.email);
    expect(inbox.mailTo(merchant.email)).toHaveLength(1);
  });

  it('gets the mail in place of the one before, to whom the mail server did not accept it', async () => {
    const merchant = await refused({ at: 'RCPT', code: 451 });
    const email = `contact-${randomUUID()}@merchant.example`;
    const contact = { ...newWrite(merchant.tenant), email, language: Language.EN };
    await merchant.accounts.setMerchantContact(contact);
    expect((await mailTo(inbox, email)).mail.subject).toMatch(/^Webhook failing/);
  });

  it('gets the mail again with the same Message-ID when the mail server accepted it without confirming', async () => {
    const merchant = new FailingMerchant(harness, endpoints);
    inbox.silentFor.add(merchant.email);
    await merchant.subscribe();
    await merchant.fail();
    await mailTo(inbox, merchant.email);
    inbox.silentFor.delete(merchant.email);
    const deadlineMs = 60_000;
    await vi.waitFor(() => expect(inbox.mailTo(merchant.email)).toHaveLength(2), { timeout: deadlineMs });
    const [first, second] = inbox.mailTo(merchant.email);
    expect(second!.mail.messageId).toBe(first!.mail.messageId);
    expect(first!.mail.messageId).toMatch(/^<[0-9a-f]{32}@payments\.example>$/);
  });

  it('never appears in a history, and neither does the text of a mail server', async () => {
    const merchant = await refused({ at: 'RCPT', code: 550 });
    const handle = noticeHandle(temporal, 'WEBHOOK_ERROR', merchant.subscriptionId);
    expect(await waitUntilClosed(handle)).toEqual({ outcome: 'NOTIFIED', sent: 0, rejected: 1, unsent: 0 });
    const text = historyText(await handle.fetchHistory());
    expect(text).toContain('the mail server answered RCPT TO with 550');
    expect(text).not.toMatch(/@merchant\.example|text of the mail server|localhost/);
  });

  it('gets no injected headers from a hostile URL', async () => {
    const merchant = await newMerchant();
    const evil = 'https://hooks.example/x\r\nBcc: victim@elsewhere.example\r\n\r\n"><b>words</b>';
    await merchant.fixture.sql(
      `update webhooks.subscription set url = $1, state = 'ERROR', error = $2, error_at = now() where id = $3`,
      [evil, exhausted(4, { httpStatus: 503 }), merchant.subscriptionId],
    );
    await start(merchant, 'WEBHOOK_ERROR', merchant.subscriptionId);
    const { mail, to } = await mailTo(inbox, merchant.email);
    expect(to).toEqual([merchant.email]);
    expect(mail.bcc).toBeUndefined();
    expect(mail.headers.map(({ key }) => key)).not.toContain('bcc');
    expect(mail.subject).toBe('Webhook failing (sandbox): hooks.example');
    expect(mail.text).toContain('URL: https://hooks.example/xBcc:%20victim@elsewhere.example%22%3E%3Cb%3E');
    expect(mail.text).not.toMatch(/^Bcc:/m);
  });
});

/** Starts the workflow as the outbox relay does. */
function start(
  merchant: FailingMerchant,
  kind: NotifyContactInput['kind'],
  subjectId: string,
  lastHappenedAt?: string,
) {
  const { merchantId } = merchant.tenant;
  const input: NotifyContactInput = {
    merchantId,
    environment: 'test',
    kind,
    subjectId,
    ...(lastHappenedAt && { lastHappenedAt }),
  };
  const handle = noticeHandle(temporal, kind, subjectId);
  return temporal.client.workflow.start(workflowType, {
    taskQueue: TASK_QUEUE,
    workflowId: handle.workflowId,
    args: [input],
  });
}

describe.concurrent('administrators and developers, when no contact is set', () => {
  /** A merchant with people of these roles and no contact. */
  async function withPeople(...roles: readonly Role[]) {
    const merchant = await newMerchant();
    const { tenant, accounts } = merchant;
    const write = () => newWrite(tenant);
    const people = roles.map((role) => ({ role, email: `person-${randomUUID()}@merchant.example` }));
    for (const { role, email } of people) {
      const { account } = await accounts.startSession({
        issuer: 'https://id.example',
        subject: email,
        email,
        emailVerified: true,
        name: 'Ana',
        tokenSha256: Buffer.from(randomUUID().replaceAll('-', '')),
        ipAddress: '203.0.113.7',
        userAgent: 'x',
      });
      const { invitation } = await accounts.inviteMember({ ...write(), email, role });
      await accounts.acceptInvitation({ ...write(), invitationId: invitation!.id, accountId: account!.id });
    }
    await accounts.setMerchantContact({ ...write(), language: Language.PT_BR });
    return { merchant, emails: people.map(({ email }) => email) };
  }

  it.each([
    [503, 'WEBHOOK_ERROR'],
    [410, 'WEBHOOK_GONE'],
  ] as const)(
    'each get their own mail about a %i, even when one address is permanently rejected',
    async (httpStatus, kind) => {
      const { merchant, emails } = await withPeople(Role.ADMIN, Role.ADMIN, Role.DEVELOPER);
      const [gone = '', ...others] = emails;
      inbox.rejections.set(gone, { at: 'RCPT', code: 550 });
      const attempts = inbox.attempts(gone);
      await merchant.fail(httpStatus);
      for (const email of others) {
        const about = () => inbox.mailTo(email).filter(({ mail }) => mail.subject?.startsWith('Webhook'));
        await vi.waitFor(() => expect(about()).toHaveLength(1), { timeout: 40_000 });
        expect(about()[0]!.to).toEqual([email]);
      }
      const handle = noticeHandle(temporal, kind, merchant.subscriptionId);
      await hasNotified(handle);
      expect(inbox.attempts(gone)).toBe(attempts + 1);
    },
  );
});

describe.concurrent('an invited person', () => {
  const invite = async ({ accounts, tenant }: FailingMerchant, email: string, language?: Language) => {
    const invited = { email, role: Role.DEVELOPER, ...(language && { language }) };
    return (await accounts.inviteMember({ ...newWrite(tenant), ...invited })).invitation!;
  };
  const ENGLISH = [
    'Invitation to the payments dashboard',
    'Role: Developer\n',
    /Valid until: \w+ \d+, \d{4} at/,
  ] as const;
  const PORTUGUESE = [
    'Convite para o painel de pagamentos',
    'Papel: Desenvolvedor\n',
    /Válido até: \d+ de /,
  ] as const;

  it.each([
    ['', Language.EN, undefined, ENGLISH],
    ['', Language.PT_BR, undefined, PORTUGUESE],
    [', unless the invitation has its own', Language.PT_BR, Language.EN, ENGLISH],
    [', unless the invitation has its own', Language.EN, Language.PT_BR, PORTUGUESE],
  ] as const)('gets a mail in the language of the merchant%s (%i)', async (_, language, own, texts) => {
    const [subject, role, until] = texts;
    const merchant = new FailingMerchant(harness, endpoints);
    const email = `invited-${randomUUID()}@people.example`;
    await merchant.accounts.setMerchantContact({
      ...newWrite(merchant.tenant),
      email: merchant.email,
      language,
    });
    const { id } = await invite(merchant, email, own);
    const { mail, to } = await mailTo(inbox, email);
    expect([to, mail.subject]).toEqual([[email], subject]);
    expect(mail.text).toContain(merchant.tenant.merchantId);
    expect(mail.text).toContain(role);
    expect(mail.text).toMatch(until);
    expect(mail.text).toContain(`(${email}):\n${DASHBOARD}/\n`);
    const handle = noticeHandle(temporal, 'INVITATION', id);
    expect(await waitUntilClosed(handle)).toEqual({ outcome: 'NOTIFIED', sent: 1, rejected: 0, unsent: 0 });
  });

  it('gets no mail about an invitation that was revoked before the mail was accepted', async () => {
    const merchant = new FailingMerchant(harness, endpoints);
    const email = `invited-${randomUUID()}@people.example`;
    inbox.rejections.set(email, { at: 'RCPT', code: 450 });
    const { id: invitationId } = await invite(merchant, email);
    await vi.waitFor(() => expect(inbox.attempts(email)).toBeGreaterThan(0), { timeout: 40_000 });
    await merchant.accounts.revokeInvitation({ ...newWrite(merchant.tenant), invitationId });
    inbox.rejections.delete(email);
    const handle = noticeHandle(temporal, 'INVITATION', invitationId);
    expect(await waitUntilClosed(handle)).toEqual({ outcome: 'NO_LONGER_DUE' });
    expect(inbox.mailTo(email)).toEqual([]);
  });
});

describe.concurrent('the workflow', () => {
  it('sends nothing when there are no recipients', async () => {
    const merchant = await newMerchant();
    await merchant.accounts.setMerchantContact({ ...newWrite(merchant.tenant), language: Language.EN });
    await merchant.fail();
    const handle = noticeHandle(temporal, 'WEBHOOK_ERROR', merchant.subscriptionId);
    expect(await waitUntilClosed(handle)).toEqual({ outcome: 'NO_RECIPIENTS' });
  });

  it('does not send the same notice twice', async () => {
    const merchant = await newMerchant();
    await merchant.fail();
    await mailTo(inbox, merchant.email);
    const request = { ...merchant.tenant, subscriptionId: merchant.subscriptionId };
    const { subscription } = await merchant.fixture.subscriptions.getWebhookSubscription(request);
    const { seconds, nanos } = subscription!.error!.since!;
    const lastHappenedAt = new Date(Number(seconds) * 1_000 + nanos / 1e6).toISOString();
    const first = noticeHandle(temporal, 'WEBHOOK_ERROR', merchant.subscriptionId);
    await hasNotified(first);
    await first.terminate();
    const again = await start(merchant, 'WEBHOOK_ERROR', merchant.subscriptionId, lastHappenedAt);
    expect(await again.result()).toEqual({ outcome: 'NO_LONGER_DUE' });
    expect(inbox.mailTo(merchant.email)).toHaveLength(1);
  });

  it('is found by merchant, subscription and request', async () => {
    const merchant = await newMerchant();
    await merchant.fail();
    await mailTo(inbox, merchant.email);
    const { merchantId } = merchant.tenant;
    const query = `MerchantIds = '${merchantId}' and SubscriptionIds = '${merchant.subscriptionId}' and WorkflowType = '${workflowType}'`;
    await vi.waitFor(
      async () => {
        const found = await Array.fromAsync(temporal.client.workflow.list({ query }));
        expect(found.map(({ searchAttributes }) => searchAttributes.RequestIds)).toEqual([
          [expect.stringMatching(/./)],
        ]);
      },
      { timeout: 40_000 },
    );
  });
});

it('ends with NO_SMTP without a mail server', async () => {
  const plain = await startNoticeHarness(undefined);
  const apart = await createTestNamespace();
  const plainWorker = await startHarnessWorker(plain, apart);
  try {
    const merchant = await new FailingMerchant(plain, endpoints).subscribe();
    await merchant.fail();
    const handle = noticeHandle(apart, 'WEBHOOK_ERROR', merchant.subscriptionId);
    expect(await waitUntilClosed(handle)).toEqual({ outcome: 'NO_SMTP' });
  } finally {
    await plainWorker.close();
    await apart[Symbol.asyncDispose]();
    await plain.close();
  }
});
