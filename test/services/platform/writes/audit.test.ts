import { createHash, randomUUID } from 'node:crypto';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { Code, createClient, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { AccountService, Language, Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  MerchantDecisionKind,
  RefundCaseService,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  EventService,
  WebhookSubscriptionService,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { ACTOR_HEADERS } from '../../../../services/platform/rpc/call-context.ts';
import { SCENARIOS } from '../../../architecture/rpc-scenarios.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import {
  ALL_GRANTS,
  bearer,
  newKey,
  newTenant,
  startHarness,
  type TestHarness,
} from '../../../support/harness.ts';
import { sqlOf } from '../../../support/harness-sql.ts';
import { refundsOf } from '../../refunds/refund-case-fixture.ts';
import { type ActedCall, actingTransport, isKeyed } from '../rpc/acting-transport.ts';

const actor = { accountId: randomUUID(), ipAddress: '203.0.113.9' };
const headers = { [ACTOR_HEADERS.accountId]: actor.accountId, [ACTOR_HEADERS.ipAddress]: actor.ipAddress };
const token = 'acts-for-nobody';
const SECRET = /mpk_(?:live|test)_\w+|whsec_[\w+/=]+/g;

interface Entry {
  readonly account_id: string;
  readonly action: string;
  readonly ip_address: string;
  readonly request_id: string;
  readonly request: object | null;
}

let harness: TestHarness;
beforeAll(async () => {
  const tokenSha256 = (of: string) => createHash('sha256').update(of).digest('hex');
  const grants = ALL_GRANTS.filter((grant) => grant !== 'on-behalf-of');
  harness = await startHarness({
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    SERVICE_TOKENS: [
      `alone|${tokenSha256(token)}|${grants.join(' ')}`,
      `acting|${tokenSha256('acts')}|${ALL_GRANTS.join(' ')}`,
    ].join(';'),
  });
});
afterAll(() => harness.close());

const entries = () => sqlOf<Entry>(harness, 'select * from platform.audit_entry');
const entriesOf = ({ merchantId }: { merchantId: string }) =>
  sqlOf<Entry>(harness, 'select * from platform.audit_entry where merchant_id = $1 order by id', [
    merchantId,
  ]);

/** Ways on which a caller may act for people, and on which it may not. */
const ways = {
  inside: {
    acting: () => harness.transports.inProcess,
    alone: () =>
      harness.services.transportFor({
        name: 'alone',
        grants: new Set(ALL_GRANTS.filter((grant) => grant !== 'on-behalf-of')),
      }),
  },
  'on the port': {
    acting: () => over('acts'),
    alone: () => over(token),
  },
};
const over = (shown: string) =>
  createGrpcTransport({ baseUrl: harness.baseUrl, interceptors: [bearer(shown)] });

describe.each(Object.entries(ways))('the audit trail %s', (_, { acting, alone }) => {
  const contact = (tenant = newTenant()) => ({ ...tenant, idempotencyKey: newKey(), language: Language.EN });
  const client = (transport: Transport = acting()) => createClient(AccountService, transport);

  test.for(Object.entries(SCENARIOS))(
    'in %s has one entry for each write, and none for replays, reads or systems',
    async ([, play]) => {
      const calls: ActedCall[] = [];
      const before = await entries();
      const transports = { ...harness.transports, inProcess: actingTransport(acting(), actor, calls) };
      await play({ ...harness, transports });
      const known = new Set(before.map(({ request_id }) => request_id));
      const left = (await entries()).filter(({ request_id }) => !known.has(request_id));
      const acted = calls.filter(({ method }) => isKeyed(method) || method.name === 'ReleaseDueFunds');
      const expected = acted.map(({ method, requestId }) => ({
        action: `${method.parent.typeName}.${method.name}`,
        ...{ account_id: actor.accountId, ip_address: actor.ipAddress, request_id: requestId },
      }));
      const byRequest = (a: { request_id: string }, b: { request_id: string }) =>
        a.request_id < b.request_id ? -1 : 1;
      const found = left.map(({ action, account_id, ip_address, request_id }) => ({
        ...{ action, account_id, ip_address, request_id },
      }));
      expect(found.sort(byRequest)).toEqual(expected.sort(byRequest));
      const secrets = calls.flatMap(({ answer }) => answer.match(SECRET) ?? []);
      const kept = JSON.stringify(left);
      expect(secrets.filter((secret) => kept.includes(secret))).toEqual([]);
      expect(kept).not.toMatch(/mpk_(live|test)_\w{30}|whsec_/);
    },
  );

  it('has no entry if no person is named, or the write fails', async () => {
    const tenant = newTenant();
    await client().setMerchantContact(contact(tenant));
    const refused = { ...tenant, idempotencyKey: newKey(), accountId: randomUUID() };
    const removal = client().removeMember(refused, { headers });
    await expectRefusal(removal, Code.NotFound, 'MEMBER_NOT_FOUND');
    expect(await entriesOf(tenant)).toEqual([]);
  });

  it('rejects callers that may not act for people, and invalid account ids', async () => {
    const tenant = newTenant();
    const write = client(alone()).setMerchantContact(contact(tenant), { headers });
    await expectRefusal(write, Code.PermissionDenied, 'GRANT_MISSING', { grant: 'on-behalf-of' });
    await client(alone()).setMerchantContact(contact(tenant));
    for (const accountId of ['ana', `${actor.accountId}0`, '']) {
      const named = { headers: { ...headers, [ACTOR_HEADERS.accountId]: accountId } };
      const invalid = client().setMerchantContact(contact(tenant), named);
      await expectRefusal(invalid, Code.InvalidArgument, 'INVALID_ACTOR');
    }
    expect(await entriesOf(tenant)).toEqual([]);
  });

  it('commits its entry with the write or not at all', async () => {
    const tenant = newTenant();
    const email = 'alerts@shop.example';
    await sqlOf(harness, 'alter table platform.audit_entry rename to lost');
    try {
      const write = client().setMerchantContact({ ...contact(tenant), email }, { headers });
      await expect(write).rejects.toMatchObject({ code: Code.Internal });
    } finally {
      await sqlOf(harness, 'alter table platform.lost rename to audit_entry');
    }
    expect(await client().getMerchantContact(tenant)).toMatchObject({ isSet: false });
  });

  it('has its entry from the first transaction, and only one when an interrupted call is repeated', async () => {
    const tenant = newTenant(Environment.TEST);
    const subscriptions = createClient(WebhookSubscriptionService, acting());
    const target = { url: 'https://127.0.0.1:8443/a', eventTypes: ['refund.failed.v1'] };
    const created = await subscriptions.createWebhookSubscription({
      ...{ ...tenant, idempotencyKey: newKey(), ...target },
    });
    const { id: subscriptionId } = created.subscription!;
    const pause = { ...tenant, idempotencyKey: newKey(), subscriptionId };
    const isPaused = async () => {
      const { subscription } = await subscriptions.getWebhookSubscription({ ...tenant, subscriptionId });
      return subscription!.pausedAt !== undefined;
    };
    await sqlOf(harness, 'alter table webhooks.open_delivery rename to lost');
    try {
      const broken = subscriptions.pauseWebhookSubscription(pause, { headers });
      await expect(broken).rejects.toMatchObject({ code: Code.Internal });
    } finally {
      await sqlOf(harness, 'alter table webhooks.lost rename to open_delivery');
    }
    const one = { action: expect.stringMatching(/\.PauseWebhookSubscription$/), request: { subscriptionId } };
    expect([await isPaused(), await entriesOf(tenant)]).toMatchObject([true, [one]]);
    for (let n = 0; n < 2; n += 1) await subscriptions.pauseWebhookSubscription(pause, { headers });
    expect(await entriesOf(tenant)).toMatchObject([one]);
    const again = { ...pause, idempotencyKey: newKey() };
    await subscriptions.pauseWebhookSubscription(again, { headers });
    expect(await entriesOf(tenant)).toMatchObject([one, one]);
  });

  it('stores a request unchanged, without tenant and key', async () => {
    const tenant = newTenant();
    const email = 'ana@shop.example';
    await client().inviteMember(
      { ...tenant, idempotencyKey: newKey(), email, role: Role.ADMIN },
      { headers },
    );
    const events = createClient(EventService, acting());
    const [type] = (await events.listEventTypes({})).eventTypes;
    const event = { ...tenant, type: type!.name, objectId: 'one', data: type!.dataExample! };
    await events.publishEvent({ ...event, idempotencyKey: newKey() }, { headers });
    const [invitation, publication] = await entriesOf(tenant);
    expect(invitation!.request).toEqual({ email, role: 'ROLE_ADMIN' });
    expect(publication!.request).toEqual({ type: type!.name, objectId: 'one', data: type!.dataExample });
  });

  it.each(['😀', '\u0001'])('stores requests with the longest reasons, of %j', async (character) => {
    const { tenant, write, open } = refundsOf(harness);
    const { id: refundCaseId } = await open();
    const reason = character.repeat(2_000);
    const decision = { ...write(), refundCaseId, decision: MerchantDecisionKind.CONTESTED, reason };
    await createClient(RefundCaseService, acting()).decideRefundCase(decision, { headers });
    const [entry] = await entriesOf(tenant);
    expect(entry!.request).toMatchObject({ refundCaseId, reason });
  });
});

test('the scenarios contain every key and secret that no entry may contain', async () => {
  const calls: ActedCall[] = [];
  const transports = {
    ...harness.transports,
    inProcess: actingTransport(harness.transports.inProcess, actor, calls),
  };
  for (const area of ['api-keys', 'webhooks']) await SCENARIOS[area]!({ ...harness, transports });
  const secrets = calls.flatMap(({ answer }) => answer.match(SECRET) ?? []);
  expect(secrets.filter((secret) => secret.startsWith('mpk_')).length).toBeGreaterThan(0);
  expect(secrets.filter((secret) => secret.startsWith('whsec_')).length).toBeGreaterThan(0);
});

test('every RPC that writes either leaves an entry, or has a stated reason why not', async () => {
  const calls: ActedCall[] = [];
  const transports = {
    ...harness.transports,
    inProcess: actingTransport(harness.transports.inProcess, actor, calls),
  };
  for (const play of Object.values(SCENARIOS)) await play({ ...harness, transports });
  const without = calls
    .filter(({ method }) => method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS)
    .filter(({ method }) => !isKeyed(method))
    .map(({ method }) => `${method.parent.name}.${method.name}`)
    .filter((name) => !/^(Dispatch|WorkflowCommand)Service\./.test(name));
  expect([...new Set(without)].sort()).toEqual([
    // Sessions are of no merchant.
    'AccountService.EndAllSessions',
    'AccountService.EndSession',
    'AccountService.StartSession',
    // Leaves one where it names a merchant.
    'FundsService.ReleaseDueFunds',
  ]);
});
