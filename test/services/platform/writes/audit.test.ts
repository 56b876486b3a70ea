import { createHash, randomUUID } from 'node:crypto';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { Code, createClient, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, describe, expect, it, test } from 'vitest';
import { AccountService, Language, Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { RefundCaseService } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  EventService,
  WebhookSubscriptionService,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { WORKFLOW_HEADER } from '../../../../services/platform/rpc/call-context.ts';
import { ALL_GRANTS } from '../../../../services/platform/rpc/grants.ts';
import { bearer } from '../../../../services/platform/rpc/remote-transport.ts';
import { SCENARIOS } from '../../../architecture/rpc-scenarios.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant, newWrite, startHarness } from '../../../support/harness.ts';
import { sqlOf } from '../../../support/sql.ts';
import { accountsFixture, PERSON_ADDRESS } from '../../accounts/accounts-fixture.ts';
import { refundsOf } from '../../refunds/refund-case-fixture.ts';
import { isKeyed, type RepeatedCall, repeatingTransport } from '../rpc/repeating-transport.ts';

const token = 'has-no-people';
/** Grants of callers that act for no people and run no workflows. */
const WITHOUT = ['on-behalf-of', 'saga'];
/** RPCs without an idempotency key that leave an entry. */
const RECORDED = /^(ReleaseDueFunds|GetEvidence|OpenListener|Export\w+)$/;
/** Writes that leave an entry in each environment. */
const OF_BOTH_ENVIRONMENTS = /\.(\w+Invitation|\w+Member|ChangeMemberRole|SetMerchantName)$/;
const SECRET = /mpk_(?:live|test)_\w+|whsec_[\w+/=]+/g;

interface Entry {
  readonly environment: 'live' | 'test';
  readonly caller: string;
  readonly account_id: string | null;
  readonly started_by: string | null;
  readonly action: string;
  readonly ip_address: string;
  readonly request_id: string;
  readonly request: object | null;
}

const tokenSha256 = (of: string) => createHash('sha256').update(of).digest('hex');
const grantsWithout = ALL_GRANTS.filter((grant) => !WITHOUT.includes(grant));
const harness = await startHarness({
  WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  SERVICE_TOKENS: [
    `alone|${tokenSha256(token)}|${grantsWithout.join(' ')}`,
    `acting|${tokenSha256('acts')}|${ALL_GRANTS.join(' ')}`,
  ].join(';'),
});
afterAll(() => harness.close());

const entries = () => sqlOf<Entry>(harness, 'select * from platform.audit_entry');
const entriesOf = ({ merchantId }: { merchantId: string }) =>
  sqlOf<Entry>(harness, 'select * from platform.audit_entry where merchant_id = $1 order by id', [
    merchantId,
  ]);

/** Callers that may act for people, and callers that may not. */
const ways = {
  inside: {
    caller: 'test',
    acting: () => harness.transports.inProcess,
    alone: () =>
      harness.services.transportFor({
        name: 'alone',
        grants: new Set(ALL_GRANTS.filter((grant) => !WITHOUT.includes(grant))),
      }),
  },
  'on the port': {
    caller: 'acting',
    acting: () => over('acts'),
    alone: () => over(token),
  },
};
const over = (shown: string) =>
  createGrpcTransport({ baseUrl: harness.baseUrl, interceptors: [bearer(shown)] });

/** The calls and audit entries of each area's scenario over the port. */
const plays = new Map<string, Promise<{ calls: RepeatedCall[]; left: Entry[] }>>();
function playOf(area: string) {
  const play = plays.get(area) ?? playOnce(area);
  plays.set(area, play);
  return play;
}

async function playOnce(area: string) {
  const calls: RepeatedCall[] = [];
  const { caller, acting } = ways['on the port'];
  const known = new Set((await entries()).map(({ request_id }) => request_id));
  const transports = { ...harness.transports, inProcess: repeatingTransport(acting(), calls) };
  await SCENARIOS[area]!({ ...harness, transports });
  // What a call made other areas do has the call's request id, and those areas as its callers.
  const left = (await entries()).filter(
    (entry) =>
      !known.has(entry.request_id) &&
      entry.caller === caller &&
      !/(Sessions?|MailPreferences)$/.test(entry.action),
  );
  return { calls, left };
}

describe('the audit trail of the scenarios', () => {
  const areas = Object.keys(SCENARIOS);

  test.for(areas)(
    'in %s has one entry for each write and download, and none for replays or other reads',
    async (area) => {
      const { calls, left } = await playOf(area);
      const acted = calls.filter(({ method }) => isKeyed(method) || RECORDED.test(method.name));
      const expected = acted.flatMap(({ method, requestId }) => {
        const action = `${method.parent.typeName}.${method.name}`;
        const entry = { action, caller: 'acting', request_id: requestId };
        return Array(OF_BOTH_ENVIRONMENTS.test(action) ? 2 : 1).fill(entry);
      });
      const byRequest = (a: { request_id: string }, b: { request_id: string }) =>
        a.request_id < b.request_id ? -1 : 1;
      const found = left.map(({ action, caller, request_id }) => ({ action, caller, request_id }));
      expect(found.sort(byRequest)).toEqual(expected.sort(byRequest));
      const secrets = calls.flatMap(({ answer }) => answer.match(SECRET) ?? []);
      const kept = JSON.stringify(left);
      expect(secrets.filter((secret) => kept.includes(secret))).toEqual([]);
      expect(kept).not.toMatch(/mpk_(live|test)_\w{30}|whsec_/);
    },
  );

  test.for(areas)('in %s answers each write that is repeated with its key as before', async (area) => {
    const repeated = (await playOf(area)).calls.filter(({ replay }) => replay);
    // An API key is shown only once.
    const withoutKey = (answer: string) =>
      answer.replace(/"key":"mpk_\w+","keyAbsentReason":0/, '"key":"","keyAbsentReason":1');
    const before = repeated.map(({ method, answer }) => [method.name, withoutKey(answer), true]);
    expect(repeated.map(({ method, replay }) => [method.name, replay!.answer, replay!.isMarked])).toEqual(
      before,
    );
  });

  test('leaves out keys and secrets of both kinds', async () => {
    const [{ calls: ofKeys }, { calls: ofWebhooks }] = [await playOf('api-keys'), await playOf('webhooks')];
    const secrets = [...ofKeys, ...ofWebhooks].flatMap(({ answer }) => answer.match(SECRET) ?? []);
    expect(secrets.filter((secret) => secret.startsWith('mpk_')).length).toBeGreaterThan(0);
    expect(secrets.filter((secret) => secret.startsWith('whsec_')).length).toBeGreaterThan(0);
  });

  test('every RPC that writes either leaves an entry, or has a stated reason why not', async () => {
    const calls: RepeatedCall[] = [];
    for (const area of areas) calls.push(...(await playOf(area)).calls);
    const without = calls
      .filter(({ method }) => method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS)
      .filter(({ method }) => !isKeyed(method))
      .map(({ method }) => `${method.parent.name}.${method.name}`)
      .filter((name) => !/^(Dispatch|WorkflowCommand)Service\./.test(name));
    expect([...new Set(without)].sort()).toEqual([
      // Leave one for each merchant of the person.
      'AccountService.EndAllSessions',
      'AccountService.EndSession',
      'AccountService.SetMailPreferences',
      'AccountService.StartSession',
      // Leaves one for each account that it releases.
      'FundsService.ReleaseDueFunds',
      // The record of a token names who issued and revoked it.
      'ServiceTokenService.IssueServiceToken',
      'ServiceTokenService.RevokeServiceToken',
      'ServiceTokenService.RotateServiceToken',
      'WebhookListenerService.OpenListener',
      // The attempt of the delivery is its record.
      'WebhookListenerService.ReportListenerDelivery',
    ]);
  });
});

describe.each(Object.entries(ways))('the audit trail %s', (_, { caller, acting, alone }) => {
  const contact = (tenant = newTenant()) => ({ ...newWrite(tenant), language: Language.EN });
  const client = (transport: Transport = acting()) => createClient(AccountService, transport);
  const people = () => accountsFixture(acting());

  it('names the person whose session came with the write, and has no entry if the write fails', async () => {
    const tenant = newTenant();
    const { accountId, headers } = await people().join(tenant, Role.ADMIN);
    const before = await entriesOf(tenant);
    const denied = client(alone()).setMerchantContact(contact(tenant), { headers });
    await expectRefusal(denied, Code.PermissionDenied, 'GRANT_MISSING', { grant: 'on-behalf-of' });
    const refused = { ...newWrite(tenant), accountId: randomUUID() };
    const removal = client().removeMember(refused, { headers });
    await expectRefusal(removal, Code.NotFound, 'MEMBER_NOT_FOUND');
    expect(await entriesOf(tenant)).toEqual(before);
    await client().setMerchantContact(contact(tenant), { headers });
    const person = { caller, account_id: accountId, ip_address: PERSON_ADDRESS, started_by: null };
    expect((await entriesOf(tenant)).slice(before.length)).toMatchObject([person]);
  });

  it('attributes the actions of a workflow, and of the workflows that it starts, to the person who started it', async () => {
    const tenant = newTenant();
    const { accountId, headers } = await people().join(tenant, Role.ADMIN);
    const invite = async (by: Record<string, string>) => {
      const invited = { ...newWrite(tenant), email: `${randomUUID()}@shop.example` };
      await client().inviteMember({ ...invited, role: Role.VIEWER }, { headers: by });
      const [command] = await sqlOf<{ workflow_id: string }>(
        harness,
        'select workflow_id from platform.outbox_command where merchant_id = $1 order by id desc limit 1',
        [tenant.merchantId],
      );
      return { [WORKFLOW_HEADER]: command!.workflow_id };
    };
    const workflow = await invite(headers);
    const next = await invite(workflow);
    for (const by of [workflow, next]) await client().setMerchantContact(contact(tenant), { headers: by });
    const ofPerson = { account_id: accountId, started_by: caller, caller, ip_address: '' };
    const inLive = (await entriesOf(tenant)).filter(({ environment }) => environment === 'live');
    expect(inLive.slice(-3)).toMatchObject([ofPerson, ofPerson, ofPerson]);
    // Only workflows finish what others started, and only for the same merchant.
    const elsewhere = newTenant();
    await client().setMerchantContact(contact(elsewhere), { headers: workflow });
    expect(await entriesOf(elsewhere)).toMatchObject([{ account_id: null, started_by: null }]);
    await client(alone()).setMerchantContact(contact(tenant), { headers: workflow });
    expect((await entriesOf(tenant)).at(-1)).toMatchObject({ account_id: null, started_by: null });
  });

  it('commits its entry with the write or not at all', async () => {
    const tenant = newTenant();
    const email = 'alerts@shop.example';
    await sqlOf(harness, 'alter table platform.audit_entry rename to lost');
    try {
      const write = client().setMerchantContact({ ...contact(tenant), email });
      await expect(write).rejects.toMatchObject({ code: Code.Internal });
    } finally {
      await sqlOf(harness, 'alter table platform.lost rename to audit_entry');
    }
    expect(await client().getMerchantContact(tenant)).toMatchObject({ isSet: false });
  });

  it('has its entry from the first transaction, and a single one when an interrupted call is repeated', async () => {
    const tenant = newTenant(Environment.TEST);
    const subscriptions = createClient(WebhookSubscriptionService, acting());
    const target = { url: 'https://127.0.0.1:8443/a', eventTypes: ['refund.failed.v1'] };
    const created = await subscriptions.createWebhookSubscription({ ...newWrite(tenant), ...target });
    const { id: subscriptionId } = created.subscription!;
    const pause = { ...newWrite(tenant), subscriptionId };
    const isPaused = async () => {
      const { subscription } = await subscriptions.getWebhookSubscription({ ...tenant, subscriptionId });
      return subscription!.pausedAt !== undefined;
    };
    await sqlOf(harness, 'alter table webhooks.open_delivery rename to lost');
    try {
      const broken = subscriptions.pauseWebhookSubscription(pause);
      await expect(broken).rejects.toMatchObject({ code: Code.Internal });
    } finally {
      await sqlOf(harness, 'alter table webhooks.lost rename to open_delivery');
    }
    const one = { action: expect.stringMatching(/\.PauseWebhookSubscription$/), request: { subscriptionId } };
    const made = { action: expect.stringMatching(/\.CreateWebhookSubscription$/) };
    expect([await isPaused(), await entriesOf(tenant)]).toMatchObject([true, [made, one]]);
    for (let n = 0; n < 2; n += 1) await subscriptions.pauseWebhookSubscription(pause);
    expect(await entriesOf(tenant)).toMatchObject([made, one]);
    const again = newWrite(pause);
    await subscriptions.pauseWebhookSubscription(again);
    expect(await entriesOf(tenant)).toMatchObject([made, one, one]);
    // A day later the key has no record any more, so the same call is another one.
    await sqlOf(harness, `select platform.ensure_audit_partitions(now() - interval '2 days', now())`);
    await sqlOf(
      harness,
      `with record as (
         update platform.idempotency_record set created_at = now() - interval '25 hours' where key = $1
       ), last as (
         select id from platform.audit_entry where merchant_id = $2 order by id desc limit 1
       )
       update platform.audit_entry e set id = platform.first_id(now() - interval '25 hours')
         from last where merchant_id = $2 and e.id = last.id`,
      [again.idempotencyKey, tenant.merchantId],
    );
    await subscriptions.pauseWebhookSubscription(again);
    expect(await entriesOf(tenant)).toHaveLength(4);
  });

  it('stores a request unchanged, without tenant and key, and of a published event no data', async () => {
    const tenant = newTenant();
    const email = 'ana@shop.example';
    await client().inviteMember({ ...newWrite(tenant), email, role: Role.ADMIN });
    const events = createClient(EventService, acting());
    const [type] = (await events.listEventTypes({})).eventTypes;
    const event = { ...tenant, type: type!.name, objectId: 'one', data: type!.dataExample! };
    await events.publishEvent(newWrite(event));
    const [invitation, , publication] = await entriesOf(tenant);
    expect(invitation!.request).toEqual({ email, role: 'ROLE_ADMIN' });
    expect(publication!.request).toEqual({ type: type!.name, objectId: 'one' });
  });

  it.each(['😀', '\u0001'])('stores requests with the longest texts, of %j', async (character) => {
    const { tenant, write, refunds } = refundsOf(harness);
    const disputeId = randomUUID();
    await refunds.openDispute({ ...write(), disputeId, paymentIntentId: randomUUID() });
    const text = character.repeat(5_000);
    await createClient(RefundCaseService, acting()).respondToDispute({ ...write(), disputeId, text });
    const entry = (await entriesOf(tenant)).at(-1);
    expect(entry!.request).toEqual({ disputeId, text });
  });
});
