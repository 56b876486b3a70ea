import { randomBytes, randomUUID } from 'node:crypto';
import { createClient, type Transport } from '@connectrpc/connect';
import { Language, MailTopic, Role } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import {
  PaymentMethod,
  PriceType,
  ProductService,
  ProductType,
} from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { BlockReason, RefundDebitState, SaleMethod } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { WorkflowCommandService } from '../../proto/gen/payments/outbox/v1/outbox_pb.js';
import {
  ApprovalMode,
  DisputeOutcome,
  MerchantDecisionKind,
  ProviderOutcome,
  RefundBlocker,
  RefundCaseScope,
  RefundInitiator,
  ReviewDecision,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { ServiceTokenService } from '../../proto/gen/payments/servicetokens/v1/servicetokens_pb.js';
import {
  DeliveryService,
  DeliveryStatus,
  DispatchService,
  EventService,
  WebhookListenerService,
  WebhookSubscriptionService,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { accountsFixture, newPerson } from '../services/accounts/accounts-fixture.ts';
import { fundsCaller } from '../services/funds/funds-caller.ts';
import { aPdf, fileMessages, readFile } from '../services/refunds/evidence/evidence-files.ts';
import { refundsOf } from '../services/refunds/refund-case-fixture.ts';
import { daysAgo } from '../support/ago.ts';
import { newTenant, newWrite, type TestHarness, type TestTenant } from '../support/harness.ts';

const NIL_UUID = '00000000-0000-0000-0000-000000000000';

interface Page {
  readonly nextPageToken: string;
}

/** All messages of a stream. */
async function drained<Message>(messages: AsyncIterable<Message>): Promise<Message[]> {
  return Array.fromAsync(messages);
}

/** Two pages of a list of at least two rows, because the first page has its own statement. */
async function twoPages(list: (page: { pageSize: number; pageToken: string }) => Promise<Page>) {
  const { nextPageToken } = await list({ pageSize: 1, pageToken: '' });
  if (nextPageToken === '') throw new Error('the list is too short for two pages');
  await list({ pageSize: 1, pageToken: nextPageToken });
}

/** The first message of a stream that has no end. */
async function firstOf(open: (signal: AbortSignal) => AsyncIterable<unknown>) {
  const cancel = new AbortController();
  for await (const _ of open(cancel.signal)) break;
  cancel.abort();
}

/** A scenario per area in which every RPC of its services succeeds. */
export const SCENARIOS: Readonly<Record<string, (harness: TestHarness) => Promise<void>>> = {
  catalog: ({ transports }) => catalog(transports.inProcess),
  refunds,
  funds: ({ transports }) => funds(transports.inProcess),
  advances: ({ transports }) => advances(transports.inProcess),
  webhooks,
  'api-keys': ({ transports }) => apiKeys(transports.inProcess),
  accounts: ({ transports }) => accounts(transports.inProcess),
  'service tokens': ({ transports }) => serviceTokens(transports.inProcess),
};

async function catalog(transport: Transport) {
  const client = createClient(ProductService, transport);
  const tenant = newTenant();
  const write = () => newWrite(tenant);
  const create = async () => {
    const kind = { productType: ProductType.ONE_TIME, refundWindowDays: 7 };
    return (await client.createProduct({ ...write(), name: 'Course', ...kind })).product!.id;
  };
  const [productId] = [await create(), await create()];
  const price = async () => {
    const terms = { amountMinor: 5_000n, type: PriceType.ONE_TIME, maxInstallments: 1 };
    return (await client.createPrice({ ...write(), productId, ...terms })).price!.id;
  };
  const [priceId] = [await price(), await price()];
  const { offer } = await client.createOffer({
    ...write(),
    priceId,
    name: 'Launch',
    checkoutUrl: 'https://shop.example/launch',
    paymentMethods: [PaymentMethod.CARD],
    maxInstallments: 1,
  });
  const renaming = { name: 'Short course', updateMask: { paths: ['name'] } };
  await client.updateProduct({ ...write(), productId, ...renaming });
  await client.activateProduct({ ...write(), productId });
  await client.getProduct({ ...tenant, productId });
  await twoPages((page) => client.listProducts({ ...tenant, ...page }));
  await client.retireOffer({ ...write(), offerId: offer!.id });
  await client.retirePrice({ ...write(), priceId });
  await client.archiveProduct({ ...write(), productId });
}

async function refunds(harness: TestHarness) {
  const { refunds: client, tenant, write, open, start, debit, processing } = refundsOf(harness);
  const { id: contested } = await open();
  const { evidence } = await client.addEvidence(
    fileMessages({ ...write(), refundCaseId: contested, fileName: 'receipt.pdf' }, aPdf()),
  );
  await client.listEvidence({ ...tenant, refundCaseId: contested });
  await readFile(client.getEvidence({ ...tenant, evidenceId: evidence!.id }));
  const decision = MerchantDecisionKind.CONTESTED;
  await client.decideRefundCase({ ...write(), refundCaseId: contested, decision, reason: 'used' });
  const blocker = RefundBlocker.KYC_NOT_APPROVED;
  await client.addBlocker({ ...write(), refundCaseId: contested, blocker });
  await client.clearBlocker({ ...write(), refundCaseId: contested, blocker });
  const approval = { decision: ReviewDecision.APPROVE, approvalMode: ApprovalMode.OPERATIONS };
  await client.reviewRefundCase({ ...write(), refundCaseId: contested, ...approval });
  await start(contested);
  await client.beginRefundExecution({ ...write(), refundCaseId: contested, execution: 1 });
  await debit(contested);
  const outcome = { outcome: ProviderOutcome.SUCCEEDED, providerRefundId: 'pr_1' };
  await client.recordProviderOutcome({ ...write(), refundCaseId: contested, ...outcome });
  const failing = await processing({ initiator: RefundInitiator.MERCHANT });
  const failure = { outcome: ProviderOutcome.FAILED };
  await client.recordProviderOutcome({ ...write(), refundCaseId: failing.id, ...failure });

  const overdue = await open({ occurredAt: daysAgo(10), paidAt: daysAgo(11) });
  await client.expireMerchantReview({ ...write(), refundCaseId: overdue.id });
  const ending = await open({ occurredAt: daysAgo(6.5), paidAt: daysAgo(11) });
  await client.announceReviewDeadline({ ...write(), refundCaseId: ending.id });
  const { id: canceled, paymentIntentId } = await open({ saleId: randomUUID() });
  const disputeId = randomUUID();
  await client.openDispute({ ...write(), disputeId, paymentIntentId });
  await client.addEvidence(fileMessages({ ...write(), disputeId, fileName: 'receipt.pdf' }, aPdf()));
  await client.respondToDispute({ ...write(), disputeId, text: 'delivered on the 3rd' });
  await client.listEvidence({ ...tenant, disputeId });
  await client.recordResponseSubmission({ ...write(), disputeId });
  await client.closeDispute({ ...write(), disputeId });
  await client.getDispute({ ...tenant, disputeId });
  const lost = randomUUID();
  await client.openDispute({ ...write(), disputeId: lost, paymentIntentId: randomUUID(), amountMinor: 1n });
  await client.closeDispute({ ...write(), disputeId: lost, outcome: DisputeOutcome.LOST });
  await client.reverseDispute({ ...write(), disputeId: lost });
  await client.getPayment({ ...tenant, paymentIntentId });
  await client.cancelRefundCase({ ...write(), refundCaseId: canceled });
  await client.openDispute({ ...write(), disputeId: randomUUID(), paymentIntentId: randomUUID() });
  const after = { ...tenant, id: NIL_UUID };
  await client.scanRefundCases({ ...tenant, after, scope: RefundCaseScope.OPEN });
  await client.scanDisputes({ ...tenant, after });
  await twoPages((page) => client.listDisputes({ ...tenant, ...page, includeTotals: true }));
  await client.openDispute({ ...write(), disputeId: randomUUID(), paymentIntentId: randomUUID() });
  await twoPages((page) => client.listDisputeQueue({ ...tenant, ...page }));
  for (let n = 0; n < 2; n += 1) await processing({ initiator: RefundInitiator.MERCHANT });
  await twoPages((page) => client.listProviderQueue({ ...tenant, ...page }));
  await twoPages((page) => client.listRefundCaseQueue({ ...tenant, ...page }));

  await client.getRefundCase({ ...tenant, refundCaseId: canceled });
  await twoPages((page) => client.listRefundCases({ ...tenant, ...page, includeTotals: true }));
  await drained(client.exportRefundCases(tenant));
  await drained(client.exportDisputes(tenant));
}

async function funds(transport: Transport) {
  const caller = fundsCaller(transport);
  const { client, tenant, write } = caller;
  const card = await caller.sell({ gross: 30_000n, fees: 300n, installments: 3 });
  const sold = { saleId: randomUUID(), method: SaleMethod.INSTANT_TRANSFER, installments: 1 };
  await client.recordSale({
    ...write('2020-06-01'),
    ...sold,
    grossAmountMinor: 9_000n,
    feesAmountMinor: 90n,
  });
  await caller.deduct(100n, card.saleId);
  await caller.deduct(100n);
  const sourceId = randomUUID();
  await caller.block(card.saleId, sourceId);
  await caller.unblock(card.saleId, sourceId);
  await client.releaseDueFunds({ ...tenant });

  const { installments } = await client.listAdvanceableInstallments(tenant);
  const quoted = installments.map(({ id, version }) => ({ installmentId: id, version }));
  const advanceRequestId = randomUUID();
  await client.reserveForAdvance({ ...write(), advanceRequestId, installments: quoted.slice(0, 1) });
  await client.settleReservation({ ...write(), advanceRequestId });
  const freed = randomUUID();
  await client.reserveForAdvance({ ...write(), advanceRequestId: freed, installments: quoted.slice(1, 2) });
  await client.freeReservation({ ...write(), advanceRequestId: freed });

  const refundCaseId = randomUUID();
  const waiting = { refundCaseId, amountMinor: 1_000_000n, execution: 1, requestedAt: daysAgo(1) };
  await client.awaitFunding({ ...write(), ...waiting, saleId: card.saleId });
  await client.findCoveredRefund(tenant);
  await client.endFundingWait({ ...write(), refundCaseId, execution: 1 });
  await client.awaitFunding({ ...write(), ...waiting, execution: 2 });
  await client.endRefundExecutions({ ...write(), refundCaseId, execution: 2 });
  await caller.sell({ gross: 1_000_000n, instant: true });
  await client.debitForRefund({ ...write(), refundCaseId, amountMinor: 1_000n, execution: 3 });
  await client.reverseRefundDebit({ ...write(), refundCaseId });
  await twoPages((page) => client.listFundsReleases({ ...tenant, ...page, includeTotals: true }));
  await client.getSale({ ...tenant, saleId: card.saleId });
  await twoPages((page) => client.listSales({ ...tenant, ...page, includeTotals: true }));
  await client.searchSales({ ...tenant, orderNumberPrefix: 'R-', limit: 10 });
  const { date } = (await caller.sell({ gross: 100n, installments: 3 })).installments[0]!;
  await twoPages((page) => client.listReleaseSales({ ...tenant, date, ...page }));
  await client.getReleaseCalendar(tenant);
  await client.getBalance(tenant);
  await client.getAdvanceExposures({ advances: [{ ...tenant, advanceRequestId }] });
  await twoPages((page) => client.listMovements({ ...tenant, ...page, includeTotals: true }));
  await twoPages((page) => client.listSaleMovements({ ...tenant, saleId: card.saleId, ...page }));
  await drained(client.exportMovements(tenant));
  await drained(client.exportFundsReleases(tenant));
  await drained(client.exportReleaseSales({ ...tenant, date }));
  await drained(client.exportSales(tenant));
  await client.verifyFunds(tenant);
  await client.listVerificationQueue(tenant);
  const after = { ...tenant, id: NIL_UUID };
  await client.scanRefundDebits({ ...tenant, after, state: RefundDebitState.DEBITED });
  await client.scanRefundDebits({ ...tenant, state: RefundDebitState.PENDING });
  await client.scanOpenBlocks({ ...tenant, after, reason: BlockReason.REFUND_IN_PROGRESS });
  await client.scanDeductions({ ...tenant, after });
  await client.scanReservations({ ...tenant, after });
  for (let debts = 0; debts < 2; debts += 1) await caller.deduct(9_000_000n);
  const { debts } = await client.listDebts(tenant);
  await client.listDebtQueue(tenant);
  const paymentId = randomUUID();
  await client.recordDebtPayment({ ...write(), paymentId, amountMinor: 1n });
  await client.getDeduction({ ...tenant, sourceId: debts[0]!.sourceId });
  await client.getDeductions({ ...tenant, sourceIds: [debts[0]!.sourceId] });
  await twoPages((page) => client.listDebts({ ...tenant, ...page }));
  await client.reverseDeduction({ ...write(), sourceId: debts[0]!.sourceId });
}

async function advances(transport: Transport) {
  const client = createClient(AdvanceService, transport);
  const { tenant, write, sell } = fundsCaller(transport);
  const on = '2020-06-20';
  await client.setAdvanceRate({ ...write(on), monthlyRateBps: 199 });
  await client.getAdvanceRate(tenant);
  await sell({ on, gross: 60_000n, installments: 6 });
  const request = async () => {
    const { quote } = await client.quoteAdvance({ ...write(on), maxAmountMinor: 10_000n });
    await client.getAdvanceQuote({ ...tenant, quoteId: quote!.id });
    const { advanceRequest } = await client.requestAdvance({ ...write(on), quoteId: quote!.id });
    return advanceRequest!.id;
  };
  const advanceRequestId = await request();
  await client.approveAdvance({ ...write(on), advanceRequestId });
  await client.releaseAdvance({ ...write(on), advanceRequestId });
  await client.settleAdvance({ ...write(), advanceRequestId });
  const accepted = { case: 'accepted', value: { providerPayoutId: 'po_1' } } as const;
  await client.recordPayoutAnswer({ ...write(), advanceRequestId, answer: accepted });
  for (const stuck of [await request(), await request()]) {
    await client.approveAdvance({ ...write(on), advanceRequestId: stuck });
    await client.releaseAdvance({ ...write(on), advanceRequestId: stuck });
    const refused = { case: 'refused', value: 'the account is closed' } as const;
    for (let n = 0; n < 5; n += 1) {
      await client.recordPayoutAnswer({ ...write(), advanceRequestId: stuck, answer: refused });
    }
  }
  await client.scanAdvanceRequests({ ...tenant, after: { ...tenant, id: NIL_UUID } });
  await twoPages((page) => client.listProviderQueue({ ...tenant, ...page }));
  for (let n = 0; n < 2; n += 1) await request();
  await twoPages((page) => client.listAdvanceQueue({ ...tenant, ...page }));
  await client.refuseAdvance({ ...write(), advanceRequestId: await request(), reason: 'not this time' });
  await client.getAdvanceRequest({ ...tenant, advanceRequestId });
  await twoPages((page) => client.listAdvanceRequests({ ...tenant, ...page, includeTotals: true }));
  await drained(client.exportAdvanceRequests(tenant));
}

async function webhooks(harness: TestHarness) {
  const transport = harness.transports.inProcess;
  const subscriptions = createClient(WebhookSubscriptionService, transport);
  const events = createClient(EventService, transport);
  const tenant = newTenant(Environment.TEST);
  const write = () => newWrite(tenant);
  const { eventTypes } = await events.listEventTypes({});
  const { name, dataExample } = eventTypes.find((type) => type.name.startsWith('refund.'))!;
  const subscribe = async (path: string) => {
    const target = { url: `https://127.0.0.1:8443/${path}`, eventTypes: [name], ordered: path === 'a' };
    return (await subscriptions.createWebhookSubscription({ ...write(), ...target })).subscription!.id;
  };
  const [subscriptionId] = [await subscribe('a'), await subscribe('b')];
  await subscriptions.getWebhookSubscription({ ...tenant, subscriptionId, withHealth: true });
  await subscriptions.revealSigningSecret({ ...write(), subscriptionId });
  await subscriptions.rotateSigningSecret({ ...write(), subscriptionId });
  await subscriptions.getSigningSecretStatus({ ...tenant, subscriptionId });
  await subscriptions.sendTestEvent({ ...write(), subscriptionId });
  await twoPages((page) => subscriptions.listWebhookSubscriptions({ ...tenant, ...page, withHealth: true }));
  const about = { type: name, objectId: randomUUID(), data: dataExample! };
  const { event } = await events.publishEvent({ ...write(), ...about });
  await events.publishEvents({ ...write(), events: [about] });
  await events.getEvent({ ...tenant, eventId: event!.id });
  await refundsOf(harness).open();

  const deliveries = createClient(DeliveryService, transport);
  const page = await deliveries.listDeliveries({ ...tenant, subscriptionId, withLastAttempt: true });
  const deliveryId = page.deliveries[0]!.id;
  await deliveries.getDelivery({ ...tenant, deliveryId });
  await deliveries.getDeliveryStatistics(tenant);
  await work(transport, deliveryId);
  await twoPages((bounds) => deliveries.listDeliveries({ ...tenant, ...bounds }));
  await operations(transport, tenant, subscriptionId, () => events.publishEvent({ ...write(), ...about }));
  await twoPages((bounds) => events.listEvents({ ...tenant, type: name, ...bounds }));
  await events.listEventFeed({ ...tenant, eventTypes: [name], maxEvents: 1 });
  await firstOf((signal) => events.getEventFeed({ ...tenant, eventTypes: [name] }, { signal }));
  await listeners(transport, tenant, name);
  await resends(transport, tenant, { subscriptionId, eventId: event!.id });
  await subscriptions.disableWebhookSubscription({ ...write(), subscriptionId });
  await subscriptions.reactivateWebhookSubscription({ ...write(), subscriptionId });
  const changes = { url: 'https://127.0.0.1:8443/c', eventTypes: [name], description: 'Orders' };
  await subscriptions.updateWebhookSubscription({ ...write(), subscriptionId, ...changes });
  await subscriptions.deleteWebhookSubscription({ ...write(), subscriptionId });
}

async function operations(
  transport: Transport,
  tenant: TestTenant,
  subscriptionId: string,
  publish: () => Promise<unknown>,
) {
  const subscriptions = createClient(WebhookSubscriptionService, transport);
  const deliveries = createClient(DeliveryService, transport);
  const write = () => newWrite(tenant);
  await subscriptions.setDeliveryLimits({ ...write(), subscriptionId, maxAttemptsPerSecond: 100 });
  await subscriptions.pauseWebhookSubscription({ ...write(), subscriptionId });
  await publish();
  const held = { subscriptionId, status: DeliveryStatus.HELD };
  const [delivery] = (await deliveries.listDeliveries({ ...tenant, ...held })).deliveries;
  await deliveries.retryDelivery({ ...write(), deliveryId: delivery!.id });
  await subscriptions.resumeWebhookSubscription({ ...write(), subscriptionId });
  await deliveries.cancelDelivery({ ...write(), deliveryId: delivery!.id });
}

async function listeners(transport: Transport, tenant: TestTenant, eventType: string) {
  const client = createClient(WebhookListenerService, transport);
  const write = () => newWrite(tenant);
  const cancel = new AbortController();
  const signingSecret = `whsec_${randomBytes(32).toString('base64')}`;
  const listener = { ...tenant, forwardsTo: 'http://localhost:3000/', signingSecret };
  const stream = client.openListener(listener, { signal: cancel.signal })[Symbol.asyncIterator]();
  const next = async <Case extends 'opened' | 'delivery'>(expected: Case) => {
    const { message } = (await stream.next()).value!;
    if (message.case !== expected) throw new Error(`${message.case} instead of ${expected}`);
    return message.value as Extract<typeof message, { case: Case }>['value'];
  };
  const { listenerId } = await next('opened');
  const { eventId } = await client.triggerEvent({ ...write(), eventType });
  const { deliveryId } = await next('delivery');
  const report = { listenerId, deliveryId, outcome: { case: 'httpStatus', value: 204 } } as const;
  await client.reportListenerDelivery({ ...tenant, ...report, latencyMs: 5 });
  await client.resendToListeners({ ...write(), eventId });
  await next('delivery');
  cancel.abort();
  await firstOf((signal) => client.followEvents({ ...tenant, eventTypes: [eventType] }, { signal }));
}

async function resends(
  transport: Transport,
  tenant: TestTenant,
  { subscriptionId, eventId }: { subscriptionId: string; eventId: string },
) {
  const client = createClient(DeliveryService, transport);
  const dispatcher = createClient(DispatchService, transport);
  const write = () => newWrite(tenant);
  const value = { from: daysAgo(1), to: daysAgo(0) };
  const period = { selection: { case: 'period' as const, value }, subscriptionId, onlyFailed: true };
  await client.previewResend({ ...tenant, ...period });
  await client.resendDeliveries({ ...write(), ...period });
  const selection = { case: 'eventId' as const, value: eventId };
  const { resend } = await client.resendDeliveries({ ...write(), selection });
  const resendId = resend!.id;
  await dispatcher.continueResend({ resendId, maxDeliveries: 1 });
  await client.getResend({ ...tenant, resendId });
  await twoPages((page) => client.listResends({ ...tenant, ...page }));
  await client.cancelResend({ ...write(), resendId });
}

/** The calls of the worker. No process owns lanes, so no attempt is made. */
async function work(transport: Transport, deliveryId: string) {
  const client = createClient(DispatchService, transport);
  const outbox = createClient(WorkflowCommandService, transport);
  const { commands } = await outbox.claimCommands({ waitMs: 0, maxCommands: 1_000 });
  const commandIds = commands.map(({ id }) => id);
  await outbox.confirmCommands({ commandIds });
  await outbox.resendStarts({});
  await outbox.endStarts({ commandIds });
  await client.requestAttempt({ deliveryId });
  await client.awaitAttempt({ deliveryId, attemptNumber: 1, waitMs: 0 });
  await client.listDeliveryRecords({ workflowId: 'deliveries-2026-11-20T10:00:00Z-test-1' });
  await client.applyRetention({});
}

async function apiKeys(transport: Transport) {
  const client = createClient(ApiKeyService, transport);
  const tenant = newTenant();
  const write = () => newWrite(tenant);
  const scopes = [ApiKeyScope.REFUNDS_READ];
  const { apiKey, key } = await client.issueApiKey({ ...write(), name: 'Shop', scopes });
  await client.authenticateApiKey({ key, environment: tenant.environment });
  await client.rotateApiKey({ ...write(), apiKeyId: apiKey!.id, overlapSeconds: 60 });
  await client.revokeApiKey({ ...write(), apiKeyId: apiKey!.id });
  await twoPages((page) => client.listApiKeys({ ...tenant, ...page }));
}

async function accounts(transport: Transport) {
  const { client, write, signIn, invite, accept, join, change, remove } = accountsFixture(transport);
  const tenant = newTenant();
  const person = newPerson();
  const { accountId, sessionId, tokenSha256, headers } = await signIn(person);
  await client.authenticateSession({ tokenSha256 });
  const { id } = await invite(tenant, person.email, Role.ADMIN);
  await client.listAccountInvitations({ accountId });
  await accept(tenant, id, accountId);
  const { accountId: other } = await join(tenant, Role.VIEWER);
  const sandbox = { ...tenant, environment: Environment.TEST };
  await twoPages((page) => client.listMembers({ ...sandbox, ...page }));
  await change(tenant, other, Role.DEVELOPER);
  await remove(tenant, other);
  const [invitation] = [await invite(tenant, 'a@shop.example'), await invite(sandbox, 'b@shop.example')];
  await twoPages((page) => client.listInvitations({ ...tenant, ...page }));
  await client.listInvitations({ ...tenant, includeExpired: true });
  await client.revokeInvitation({ ...write(tenant), invitationId: invitation.id });
  await client.getMerchantContact(tenant);
  for (const contact of [{ email: 'alerts@shop.example' }, {}]) {
    const request = { ...write(tenant), ...contact, language: Language.EN };
    await client.setMerchantContact(request);
    await client.setMerchantContact({ ...request, ...write(tenant) }, { headers });
  }
  await client.getMerchantContact(tenant);
  await client.setMerchantName({ ...write(tenant), name: 'Shop' });
  await client.getMerchantName(tenant);
  const topic = MailTopic.REFUND_DEADLINES;
  await client.setMailPreferences({ accountId, unwanted: [topic] });
  await client.getMailPreferences({ accountId });
  await client.listMailRecipients({ ...tenant, topic });
  const ofPeople = { ...tenant, peopleOnly: true };
  await twoPages((page) => client.listAuditEntries({ ...tenant, ...page }));
  await twoPages((page) => client.listAuditEntries({ ...ofPeople, ...page }));
  await twoPages((page) => client.listAuditEntries({ ...ofPeople, ...page, accountId }));
  await signIn(person);
  await twoPages((page) => client.listSessions({ accountId, ...page }));
  await client.endSession({ accountId, sessionId });
  await client.endAllSessions({ accountId });
}

async function serviceTokens(transport: Transport) {
  const client = createClient(ServiceTokenService, transport);
  const token = { name: 'billing', grants: ['refunds:read'], tokenSha256: randomBytes(32) };
  const { serviceToken } = await client.issueServiceToken(token);
  const serviceTokenId = serviceToken!.id;
  const successor = { tokenSha256: randomBytes(32), overlapSeconds: 60 };
  await client.rotateServiceToken({ serviceTokenId, ...successor });
  await client.revokeServiceToken({ serviceTokenId });
  await twoPages((page) => client.listServiceTokens({ name: 'billing', ...page }));
}
