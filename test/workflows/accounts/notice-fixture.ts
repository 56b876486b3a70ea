import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { afterAll, expect, vi } from 'vitest';
import { AccountService, Language } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { WebhookSubscriptionState } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { type NoticeKind, workflowId } from '../../../services/contracts/accounts/notify-contact.contract.ts';
import { webhooksFixture } from '../../services/webhooks/webhooks-fixture.ts';
import { newTenant, newWrite, startHarness, type TestHarness } from '../../support/harness.ts';
import { startHarnessWorker } from '../../support/harness-worker.ts';
import { loopbackSettings } from '../../support/loopback-settings.ts';
import type { TestNamespace } from '../../support/temporal.ts';
import { createTestNamespace } from '../../support/temporal-namespace.ts';
import { type Receiver, startReceiver } from '../../support/tls-receiver.ts';
import { type ReceivedMail, type SmtpInbox, startSmtpInbox } from './smtp-inbox.ts';

export const DASHBOARD = 'https://dashboard.example';
const { ACTIVE, ERROR, DISABLED } = WebhookSubscriptionState;
const TIMEOUT = { timeout: 40_000, interval: 100 };

/** Services whose sandbox makes one attempt, so that the first failure exhausts a delivery. */
export async function startNoticeHarness(inbox: SmtpInbox | undefined): Promise<TestHarness> {
  const harness = await startHarness({
    ...loopbackSettings(),
    WEBHOOK_SCHEDULE_SANDBOX: '0s',
    PUBLIC_URL_DASHBOARD: DASHBOARD,
    ...(inbox && { SMTP_URL: inbox.url, MAIL_FROM: 'Pagamentos <no-reply@payments.example>' }),
  });
  harness.services.startWebhookLanes();
  return harness;
}

/** What the tests of a file about notices share: such services, a mail server, and Temporal with a worker. */
export async function startNotices(
  startWorker: (
    harness: TestHarness,
    temporal: TestNamespace,
  ) => Promise<{ close(): Promise<void> }> = startHarnessWorker,
) {
  const [temporal, inbox] = await Promise.all([createTestNamespace(), startSmtpInbox()]);
  const harness = await startNoticeHarness(inbox);
  const worker = await startWorker(harness, temporal);
  afterAll(async () => {
    await worker.close();
    await harness.close();
    await inbox[Symbol.asyncDispose]();
    await temporal[Symbol.asyncDispose]();
  });
  return { harness, temporal, inbox };
}

/** One receiver for the endpoints of many merchants. Each has its own path, and its status in `answers`. */
export async function startEndpoints() {
  const answers = new Map<string, number>();
  const receiver: Receiver = await startReceiver((request, response) =>
    response.writeHead(answers.get(request.url ?? '') ?? 204).end(),
  );
  return { receiver, answers };
}

/** A sandbox merchant with a unique contact address and one subscription, whose endpoint can be made to fail. */
export class FailingMerchant {
  readonly tenant = newTenant(Environment.TEST);
  readonly email = `contact-${randomUUID()}@merchant.example`;
  subscriptionId = '';
  readonly #harness: TestHarness;
  readonly #endpoints: Awaited<ReturnType<typeof startEndpoints>>;
  readonly #path = `/hooks/${randomUUID()}`;

  constructor(harness: TestHarness, endpoints: Awaited<ReturnType<typeof startEndpoints>>) {
    this.#harness = harness;
    this.#endpoints = endpoints;
  }

  get url(): string {
    return `https://localhost:${this.#endpoints.receiver.port}${this.#path}`;
  }

  get fixture() {
    return webhooksFixture(this.#harness, this.#harness.transports.inProcess);
  }

  get accounts() {
    return createClient(AccountService, this.#harness.transports.inProcess);
  }

  /** Subscribes a healthy endpoint. */
  async subscribe(language = Language.EN): Promise<this> {
    await this.accounts.setMerchantContact({ ...newWrite(this.tenant), email: this.email, language });
    const { id } = await this.fixture.subscribe(this.tenant, undefined, this.url);
    this.subscriptionId = id;
    await this.becomes(ACTIVE);
    return this;
  }

  fail = (httpStatus = 500) => this.#publish(httpStatus, httpStatus === 410 ? DISABLED : ERROR);
  recover = () => this.#publish(204, ACTIVE);

  async becomes(state: WebhookSubscriptionState): Promise<void> {
    await vi.waitFor(async () => {
      const request = { ...this.tenant, subscriptionId: this.subscriptionId };
      const { subscription } = await this.fixture.subscriptions.getWebhookSubscription(request);
      expect(WebhookSubscriptionState[subscription!.state]).toBe(WebhookSubscriptionState[state]);
    }, TIMEOUT);
  }

  async #publish(httpStatus: number, state: WebhookSubscriptionState): Promise<void> {
    this.#endpoints.answers.set(this.#path, httpStatus);
    await this.fixture.publish(this.tenant);
    await this.becomes(state);
  }
}

/** The workflow that sends a notice. */
export const noticeHandle = (temporal: TestNamespace, kind: NoticeKind, subjectId: string) =>
  temporal.client.workflow.getHandle(workflowId(kind, subjectId));

/** Waits for the first mail to an address. */
export async function mailTo(inbox: SmtpInbox, address: string): Promise<ReceivedMail> {
  await vi.waitFor(() => expect(inbox.mailTo(address).length).toBeGreaterThan(0), TIMEOUT);
  return inbox.mailTo(address)[0]!;
}
