import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { DescService } from '@bufbuild/protobuf';
import { type CallOptions, createClient } from '@connectrpc/connect';
import { afterAll, expect, test, vi } from 'vitest';
import { Language, Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceService } from '../../../../proto/gen/payments/advances/v1/advances_pb.js';
import { ApiKeyScope, ApiKeyService } from '../../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { SaleMethod } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { MerchantDecisionKind } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { EventService } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { errorInfoOf } from '../../../../services/platform/rpc/connect-errors.ts';
import { newTenant, startHarness, type TestTenant } from '../../../support/harness.ts';
import { lockWaits, openSession, sqlOf } from '../../../support/sql.ts';
import { accountsFixture } from '../../accounts/accounts-fixture.ts';
import { fundsCaller } from '../../funds/funds-caller.ts';
import { aPdf, fileMessages } from '../../refunds/evidence/evidence-files.ts';
import { refundsOf } from '../../refunds/refund-case-fixture.ts';

/** Races between a person's write and the demotion, removal or sign-out that forbids it. */

const harness = await startHarness();
const lockHolder = await openSession(harness.databaseUrl);
afterAll(async () => {
  await lockHolder.end();
  await harness.close();
});

const fixture = () => accountsFixture(harness.transports.inProcess);
type Person = Awaited<ReturnType<ReturnType<typeof fixture>['join']>>;
/** Makes the write, with the session of the person. */
type Write = (call: CallOptions) => Promise<unknown>;

const client = <Service extends DescService>(service: Service) =>
  createClient(service, harness.transports.inProcess);

/** A write of each area that people write to, which they may make until their demotion. */
const WRITES = {
  async SetMerchantContact(tenant) {
    const contact = { email: 'alerts@shop.example', language: Language.EN };
    return (call) => fixture().client.setMerchantContact({ ...fixture().write(tenant), ...contact }, call);
  },
  async DecideRefundCase(tenant) {
    const { refunds, write, open } = refundsOf(harness, 'inProcess', tenant);
    const { id: refundCaseId } = await open();
    const contest = { refundCaseId, decision: MerchantDecisionKind.CONTESTED, reason: 'used' };
    return (call) => refunds.decideRefundCase({ ...write(), ...contest }, call);
  },
  /** Nothing checks the role before its stream. */
  async AddEvidence(tenant) {
    const { refunds, write, open } = refundsOf(harness, 'inProcess', tenant);
    const { id: refundCaseId } = await open();
    return (call) =>
      refunds.addEvidence(fileMessages({ ...write(), refundCaseId, fileName: 'photo' }, aPdf()), call);
  },
  async RecordSale(tenant) {
    const funds = fundsCaller(harness.transports.inProcess, tenant);
    const sale = { method: SaleMethod.CARD, grossAmountMinor: 100n, feesAmountMinor: 0n, installments: 1 };
    return (call) => funds.client.recordSale({ ...funds.write(), saleId: randomUUID(), ...sale }, call);
  },
  /** Claims the quote, has funds reserve its installments, and commits the request. */
  async RequestAdvance(tenant) {
    const funds = fundsCaller(harness.transports.inProcess, tenant);
    await funds.sell({ gross: 10_000n });
    const advances = client(AdvanceService);
    const { quote } = await advances.quoteAdvance(funds.write());
    return (call) => advances.requestAdvance({ ...funds.write(), quoteId: quote!.id }, call);
  },
  async PublishEvent(tenant) {
    const events = client(EventService);
    const [type] = (await events.listEventTypes({})).eventTypes;
    const event = { type: type!.name, objectId: 'one', data: type!.dataExample! };
    return (call) => events.publishEvent({ ...fixture().write(tenant), ...event }, call);
  },
  async IssueApiKey(tenant) {
    const key = { name: 'till', scopes: [ApiKeyScope.FUNDS_READ] };
    return (call) => client(ApiKeyService).issueApiKey({ ...fixture().write(tenant), ...key }, call);
  },
} as const satisfies Readonly<Record<string, (tenant: TestTenant) => Promise<Write>>>;

type WriteName = keyof typeof WRITES;

/** A merchant whose administrator Ana can be removed, and a write that she may make. */
async function newMerchant(name: WriteName) {
  const tenant = newTenant(Environment.TEST);
  await fixture().join(tenant, Role.ADMIN);
  const ana = await fixture().join(tenant, Role.ADMIN);
  const write = await WRITES[name](tenant);
  return {
    tenant,
    ana,
    /** The reason of a refusal. */
    write: () =>
      write({ headers: ana.headers }).then(
        () => 'written',
        (error: unknown) => errorInfoOf(error)?.reason,
      ),
    /** Entries of the audit trail commit with their writes. */
    isWritten: async () => {
      const entries = await sqlOf(
        harness,
        'select from platform.audit_entry where merchant_id = $1 and account_id = $2 and action like $3',
        [tenant.merchantId, ana.accountId, `%.${name}`],
      );
      return entries.length > 0;
    },
  };
}

type Merchant = Awaited<ReturnType<typeof newMerchant>>;

/** Resolves once this many sessions of the database wait for locks. */
const untilWaiting = (count: number) =>
  vi.waitUntil(async () => (await lockWaits(harness)).length === count, { interval: 10, timeout: 10_000 });

const holdTable = (table: string) => lockHolder.query(`begin; lock table ${table} in share mode`);

const ENDINGS = {
  'a demotion': ({ tenant, ana }) => fixture().change(tenant, ana.accountId, Role.VIEWER),
  'a removal': ({ tenant, ana }) => fixture().remove(tenant, ana.accountId),
  'a sign-out': ({ ana }) => fixture().client.endSession(pick(ana)),
} as const satisfies Readonly<Record<string, (merchant: Merchant) => Promise<unknown>>>;
const pick = ({ accountId, sessionId }: Person) => ({ accountId, sessionId });

type Race = readonly [ending: keyof typeof ENDINGS, write: WriteName];
/** Every ending with one write, and every write with a demotion. */
const RACES: readonly Race[] = [
  ['a removal', 'SetMerchantContact'],
  ['a sign-out', 'SetMerchantContact'],
  ...(Object.keys(WRITES) as WriteName[]).map((name) => ['a demotion', name] as const),
];

test.each(RACES)('%s that commits first refuses %s', async (ending, name) => {
  const merchant = await newMerchant(name);
  // Each ending has changed what it changes when it records its entry.
  await holdTable('platform.audit_entry');
  const ended = ENDINGS[ending](merchant);
  await untilWaiting(1);
  const written = merchant.write();
  await untilWaiting(2);
  await lockHolder.query('commit');
  await ended;
  expect(await written).toBe('SESSION_INVALID');
  expect(await merchant.isWritten()).toBe(false);
});

/**
 * A table that each write reaches after it has checked its person, and that no ending touches. Without RecordSale:
 * funds releases its locks after a second and starts again, so this order cannot be arranged.
 */
const HELD: Readonly<Partial<Record<WriteName, string>>> = {
  SetMerchantContact: 'accounts.merchant_contact',
  DecideRefundCase: 'refunds.refund_case',
  AddEvidence: 'refunds.evidence',
  RequestAdvance: 'advances.request',
  PublishEvent: 'webhooks.event',
  IssueApiKey: 'api_keys.api_key',
};

test.each(RACES.filter(([, name]) => name in HELD))(
  '%s waits for %s that came first',
  async (ending, name) => {
    const merchant = await newMerchant(name);
    await holdTable(HELD[name]!);
    const written = merchant.write();
    await untilWaiting(1);
    let hasEnded = false;
    const ended = ENDINGS[ending](merchant).then(() => {
      hasEnded = true;
    });
    await untilWaiting(2);
    expect(hasEnded).toBe(false);
    await lockHolder.query('commit');
    expect(await written).toBe('written');
    await ended;
    expect(await merchant.isWritten()).toBe(true);
    expect(await merchant.write()).toBe('SESSION_INVALID');
  },
);

/** Demotes the person while one write waits for the lock, which is then released to both. */
async function demoteWhileWaiting(merchant: Merchant): Promise<void> {
  const ended = ENDINGS['a demotion'](merchant);
  await untilWaiting(2);
  await lockHolder.query('commit');
  await ended;
}

test('a demotion between two transactions of a write refuses the second', async () => {
  const merchant = await newMerchant('RequestAdvance');
  // The quote is claimed when funds records the entry of the reservation; the demotion has its lock when it records its own.
  await holdTable('platform.audit_entry');
  const written = merchant.write();
  await untilWaiting(1);
  await demoteWhileWaiting(merchant);
  expect(await written).toBe('SESSION_INVALID');
  expect(await merchant.isWritten()).toBe(false);
});

test('a sale recorded by a person is not batched with sales of other callers, so the person is checked', async () => {
  const merchant = await newMerchant('RecordSale');
  const sell = () => fundsCaller(harness.transports.inProcess, merchant.tenant).sell({ gross: 100n });
  await holdTable('platform.audit_entry');
  const sold = [sell()];
  await untilWaiting(1);
  sold.push(sell());
  const written = merchant.write();
  // Nothing shows that it has joined the sale that waits for the first one.
  await delay(300);
  await demoteWhileWaiting(merchant);
  expect(await written).toBe('SESSION_INVALID');
  await Promise.all(sold);
});

test('administrators who demote each other at once take turns before they lock their memberships', async () => {
  const tenant = newTenant();
  const [ana, bia] = [await fixture().join(tenant, Role.ADMIN), await fixture().join(tenant, Role.ADMIN)];
  await lockHolder.query(
    `begin; select pg_advisory_xact_lock(hashtextextended('accounts.member ${tenant.merchantId}', 0))`,
  );
  const demote = ({ headers }: Person, { accountId }: Person) =>
    fixture().client.changeMemberRole(
      { ...fixture().write(tenant), accountId, role: Role.VIEWER },
      { headers },
    );
  const demoted = Promise.allSettled([demote(ana, bia), demote(bia, ana)]);
  await untilWaiting(2);
  const free = 'select from platform.membership where merchant_id = $1 for update skip locked';
  expect((await lockHolder.query(free, [tenant.merchantId])).rowCount).toBe(2);
  await lockHolder.query('commit');
  const statuses = (await demoted).map(({ status }) => status);
  expect(statuses.sort()).toEqual(['fulfilled', 'rejected']);
});

const expire = ({ accountId }: Person) =>
  sqlOf(harness, 'update platform.session set expires_at = now() where account_id = $1', [accountId]);

test.each([
  ['a demotion', 'SESSION_INVALID', ENDINGS['a demotion']],
  ['the expiry of its session', 'SESSION_EXPIRED', ({ ana }: Merchant) => expire(ana)],
] as const)('a file is refused after %s during its upload', async (_, reason, end) => {
  const merchant = await newMerchant('AddEvidence');
  const { tenant, ana } = merchant;
  const { refunds, write, open } = refundsOf(harness, 'inProcess', tenant);
  const { id: refundCaseId } = await open();
  const file = async function* () {
    yield { ...write(), refundCaseId, fileName: 'photo' };
    await end(merchant);
    yield { chunk: new Uint8Array(aPdf()) };
  };
  const added = refunds.addEvidence(file(), { headers: ana.headers }).catch(errorInfoOf);
  expect(await added).toMatchObject({ reason });
  expect((await refunds.listEvidence({ ...tenant, refundCaseId })).evidence).toEqual([]);
});
