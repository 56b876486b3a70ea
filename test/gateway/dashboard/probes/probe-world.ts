import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { paymentOf } from '../../../../gateway/dashboard/simulate/simulated-facts.ts';
import { AccountService, Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceService } from '../../../../proto/gen/payments/advances/v1/advances_pb.js';
import { ApiKeyScope, ApiKeyService } from '../../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { RefundCaseService, RefundInitiator } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { aPdf, fileMessages } from '../../../services/refunds/evidence/evidence-files.ts';
import { openAttemptRecords } from '../../../services/webhooks/attempts/attempt-records.ts';
import { resendFixture } from '../../../services/webhooks/resends/resend-fixture.ts';
import { newWrite } from '../../../support/harness.ts';
import { sqlOf } from '../../../support/sql.ts';
import { seedMerchant } from '../../seed-merchant.ts';
import type { SharedDashboard, Visitor } from '../dashboard-fixture.ts';

/** A merchant with one record of each kind in an environment, and a person of each role. */
export interface World {
  readonly merchantId: string;
  readonly environment: Environment;
  /** By their names in paths and forms. */
  readonly ids: Readonly<Record<string, string>>;
  readonly people: Readonly<Record<Role.VIEWER | Role.FINANCE | Role.DEVELOPER | Role.ADMIN, Visitor>>;
}

/** Creates a merchant with a record of each kind that a path or form names by id. */
export async function makeWorld(fixture: SharedDashboard, environment = Environment.LIVE): Promise<World> {
  const merchantId = randomUUID();
  const tenant = { merchantId, environment };
  const people = {
    [Role.ADMIN]: await fixture.signIn({ [merchantId]: Role.ADMIN }),
    [Role.DEVELOPER]: await fixture.signIn({ [merchantId]: Role.DEVELOPER }),
    [Role.FINANCE]: await fixture.signIn({ [merchantId]: Role.FINANCE }),
    [Role.VIEWER]: await fixture.signIn({ [merchantId]: Role.VIEWER }),
  };
  const ids = {
    ...(await makeWebhooks(fixture, tenant)),
    ...(await makeMoney(fixture, tenant)),
    ...(await makeAccess(fixture, tenant)),
    accountId: people[Role.VIEWER].accountId,
  };
  return { ...tenant, ids, people };
}

/** A merchant in each environment. */
export type Worlds = Readonly<Record<'live' | 'test', World>>;

/** Creates a merchant with a record of each kind in each environment. */
export const makeWorlds = async (fixture: SharedDashboard): Promise<Worlds> => ({
  live: await makeWorld(fixture),
  test: await makeWorld(fixture, Environment.TEST),
});

type Tenant = Pick<World, 'merchantId' | 'environment'>;

async function makeWebhooks(fixture: SharedDashboard, tenant: Tenant) {
  const webhooks = resendFixture(fixture.harness, fixture.transport);
  const { id: subscriptionId } = await webhooks.subscribe(tenant);
  await webhooks.publish(tenant);
  const attempts = await openAttemptRecords(fixture.harness);
  const [deliveryId = ''] = await attempts.recordPending(tenant.merchantId, { httpStatus: 500 });
  await attempts.close();
  const { id: resendId } = await webhooks.again(tenant, subscriptionId);
  const [event] = await webhooks.sql<{ id: string }>(
    'select id from webhooks.event where merchant_id = $1 limit 1',
    [tenant.merchantId],
  );
  return { subscriptionId, deliveryId, resendId, eventId: event!.id };
}

async function makeMoney(fixture: SharedDashboard, tenant: Tenant) {
  const seed = seedMerchant(fixture.transport, tenant.merchantId, tenant.environment);
  const advances = createClient(AdvanceService, fixture.transport);
  const refunds = createClient(RefundCaseService, fixture.transport);
  const write = () => newWrite(tenant);
  const sales = () =>
    sqlOf<{ id: string }>(fixture.harness, 'select id from funds.sale where merchant_id = $1', [
      tenant.merchantId,
    ]);
  await seed.sale(90_000n, 6);
  const [{ id: saleId } = { id: '' }] = await sales();
  const disputeId = randomUUID();
  await refunds.openDispute({ ...write(), disputeId, paymentIntentId: paymentOf(saleId), saleId });
  await seed.sale(90_000n, 6);
  const advanceRequestId = (await seed.advance(30_000n)).id;
  const { quote } = await advances.quoteAdvance({ ...write(), maxAmountMinor: 20_000n });
  const refundCaseId = (await seed.refundCase({ initiator: RefundInitiator.CUSTOMER })).id;
  const file = { ...write(), refundCaseId, fileName: 'probe.pdf' };
  const { evidence } = await refunds.addEvidence(fileMessages(file, aPdf()));
  const answer = { ...write(), disputeId, fileName: 'probe.pdf' };
  const { evidence: disputeEvidence } = await refunds.addEvidence(fileMessages(answer, aPdf()));
  const productId = await seed.product();
  return {
    advanceRequestId,
    quoteId: quote!.id,
    saleId,
    disputeId,
    dispute: disputeId,
    refundCaseId,
    evidenceId: evidence!.id,
    disputeEvidenceId: disputeEvidence!.id,
    productId,
  };
}

async function makeAccess(fixture: SharedDashboard, tenant: Tenant) {
  const accounts = createClient(AccountService, fixture.transport);
  const keys = createClient(ApiKeyService, fixture.transport);
  const email = `${randomUUID()}@people.example`;
  const { invitation } = await accounts.inviteMember({ ...newWrite(tenant), email, role: Role.VIEWER });
  const { apiKey } = await keys.issueApiKey({
    ...newWrite(tenant),
    name: 'till',
    scopes: [ApiKeyScope.FUNDS_READ],
  });
  return { invitationId: invitation!.id, apiKeyId: apiKey!.id };
}

/** Everything stored about merchants, as one text per table. Only probes change it, because no worker runs. */
export async function storedOf(fixture: SharedDashboard, merchantIds: readonly string[]) {
  const tables = await sqlOf<{ name: string }>(
    fixture.harness,
    `select format('%I.%I', table_schema, table_name) as name from information_schema.columns
      join information_schema.tables using (table_catalog, table_schema, table_name)
     where column_name = 'merchant_id' and table_type = 'BASE TABLE' order by 1`,
  );
  const stored: Record<string, string> = {};
  for (const { name } of tables) {
    const [row] = await sqlOf<{ content: string }>(
      fixture.harness,
      `select count(*) || ' rows, ' || coalesce(md5(string_agg(t::text, E'\\n' order by t::text)), '-') as content
         from ${name} as t where merchant_id = any($1::uuid[])`,
      [merchantIds],
    );
    stored[name] = row!.content;
  }
  return stored;
}
