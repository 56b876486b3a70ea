import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { afterAll, expect, it } from 'vitest';
import { AccountService, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { ApiKeyService } from '../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { FundsService } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { RefundCaseService } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { WebhookSubscriptionService } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { findUncoveredDebts } from '../../../workflows/accounts/debt-notice.ts';
import { createNoticeActivities } from '../../../workflows/accounts/notice.activities.ts';
import { accountsFixture } from '../../services/accounts/accounts-fixture.ts';
import { fundsCaller } from '../../services/funds/funds-caller.ts';
import { startHarness } from '../../support/harness.ts';

const harness = await startHarness({ SERVICES: 'accounts,funds' });
afterAll(() => harness.close());

it('notices each new debt while older ones are open, so that it is mailed', async () => {
  const { client, tenant, deduct } = fundsCaller(harness.transports.inProcess);
  const happenedAt = async () => (await findUncoveredDebts(client, tenant))?.happenedAt;
  expect(await happenedAt()).toBeUndefined();
  await deduct(1n, undefined, '2020-06-01');
  expect(await happenedAt()).toEqual(new Date('2020-06-01T15:00:00Z'));
  await deduct(1n, undefined, '2020-06-02');
  expect(await happenedAt()).toEqual(new Date('2020-06-02T15:00:00Z'));
});

it('notices a new hold while a debt is open, so that it is mailed', async () => {
  const { client, tenant, deduct, sell, block } = fundsCaller(harness.transports.inProcess);
  const happenedAt = async () => (await findUncoveredDebts(client, tenant))?.happenedAt;
  await deduct(100n, undefined, '2020-06-01');
  const before = await happenedAt();
  const { saleId } = await sell({ gross: 100n, instant: true });
  expect(await happenedAt()).toBeUndefined();
  await block(saleId);
  expect(await happenedAt()).not.toEqual(before);
});

it('notices a deduction that is raised while it is owed, and mails it under another Message-ID', async () => {
  const { inProcess } = harness.transports;
  const { client, tenant, write } = fundsCaller(inProcess);
  await accountsFixture(inProcess).join(tenant, Role.FINANCE);
  const ids: string[] = [];
  const { findNotice, sendNotice } = createNoticeActivities({
    accounts: createClient(AccountService, inProcess),
    subscriptions: createClient(WebhookSubscriptionService, inProcess),
    refunds: createClient(RefundCaseService, inProcess),
    funds: createClient(FundsService, inProcess),
    advances: createClient(AdvanceService, inProcess),
    apiKeys: createClient(ApiKeyService, inProcess),
    sendMail: async ({ id }) => void ids.push(id),
    links: { dashboardUrl: 'https://dashboard.example' },
  });
  const input = {
    merchantId: tenant.merchantId,
    environment: 'live',
    kind: 'DEBTS',
    subjectId: tenant.merchantId,
  } as const;
  const sourceId = randomUUID();
  const mailAfterRaisingTo = async (amountMinor: bigint) => {
    await client.applyDeduction({ ...write(), sourceId, amountMinor, raise: true });
    const found = await findNotice(input);
    if (found.state !== 'DUE') throw new Error(found.state);
    await sendNotice(input, found.recipients[0]!);
    return found.happenedAt;
  };
  const first = await mailAfterRaisingTo(70n);
  expect(await mailAfterRaisingTo(90n)).not.toBe(first);
  await client.recordDebtPayment({ ...write(), paymentId: randomUUID(), amountMinor: 20n });
  await mailAfterRaisingTo(110n);
  expect(new Set(ids).size).toBe(3);
});
