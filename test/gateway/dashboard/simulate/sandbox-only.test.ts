import { randomUUID } from 'node:crypto';
import { glob, readFile } from 'node:fs/promises';
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel as Level } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { beforeAll, expect, it } from 'vitest';
import { csrfTokenOf } from '../../../../gateway/dashboard/session/session-cookie.ts';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceService } from '../../../../proto/gen/payments/advances/v1/advances_pb.js';
import { ProductService } from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { FundsService } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { RefundCaseService, RefundCaseStatus } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { EventService } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { mayCall } from '../../../../services/platform/rpc/person-rules.ts';
import { refundsOf } from '../../../services/refunds/refund-case-fixture.ts';
import { sqlOf } from '../../../support/harness-sql.ts';
import { type SharedDashboard, sharedDashboard } from '../dashboard-fixture.ts';
import { idIn, sandboxFixture } from './sandbox-fixture.ts';

const FORM = {
  method: 'INSTANT_TRANSFER',
  gross: '120.00',
  fees: '0',
  installments: '1',
  sold_days_ago: '0',
  amount: '120.00',
  paid: '120.00',
  who: 'MERCHANT',
  asked_days_ago: '0',
  reason: 'probe',
  reason_to_block: 'KYC_PENDING',
  reason_to_unblock: 'KYC_PENDING',
  outcome: 'RETURNED',
  type: 'refund.failed.v1',
  object_id: 'probe',
  reviewer: 'OPERATIONS',
  blocker: 'KYC_NOT_APPROVED',
};

let fixture: SharedDashboard;
beforeAll(async () => {
  fixture = await sharedDashboard();
});

const simulations = () => fixture.app.registered.filter(({ path }) => path.startsWith('/simulate'));

/** The path with an id for each parameter. */
const filled = (path: string, ids: Readonly<Record<string, string>>) =>
  path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? randomUUID());

it('registers every page and action of the panel for the sandbox and developers', () => {
  const places = simulations();
  expect(places.filter(({ method }) => method === 'POST').length).toBeGreaterThan(25);
  for (const place of places) {
    expect(place).toMatchObject({ environment: 'test', role: Role.DEVELOPER, section: 'simulate' });
  }
  expect(fixture.app.registered.filter(({ section }) => section === 'simulate')).toEqual(places);
});

it('does not exist in live: requests to it are 404 and have no effect', async () => {
  const { refunds, tenant, open } = refundsOf(fixture.harness);
  const visitor = await fixture.signIn({ [tenant.merchantId]: Role.ADMIN });
  const [refundCaseId, saleId] = [(await open({ saleId: randomUUID() })).id, randomUUID()];
  const events = 'select count(*)::integer as count from webhooks.event';
  const before = await sqlOf<{ count: number }>(fixture.harness, events);
  for (const { method, path } of simulations()) {
    const address = `/live/${tenant.merchantId}${filled(path, { refundCaseId, saleId })}`;
    const proof = { _csrf: csrfTokenOf(visitor.token), _key: randomUUID() };
    const page =
      method === 'GET' ? await visitor.get(address) : await visitor.post(address, { ...FORM, ...proof });
    expect([method, path, page.status]).toEqual([method, path, 404]);
  }
  expect(await sqlOf(fixture.harness, events)).toEqual(before);
  const { refundCase } = await refunds.getRefundCase({ ...tenant, refundCaseId });
  expect([refundCase!.status, refundCase!.blockedBy]).toEqual([RefundCaseStatus.MERCHANT_REVIEW, []]);
});

it('leaves the same merchant in live unchanged, whatever is simulated', async () => {
  const panel = await sandboxFixture(fixture);
  const live = { merchantId: panel.merchantId, environment: Environment.LIVE };
  await panel.sell();
  const opened = await panel.openCase();
  await panel.step(opened, 'approve');
  const { refundCases } = await createClient(RefundCaseService, fixture.transport).listRefundCases(live);
  const balance = await createClient(FundsService, fixture.transport).getBalance(live);
  const { events } = await createClient(EventService, fixture.transport).listEvents(live);
  expect([refundCases, balance.availableAmountMinor, events]).toEqual([[], 0n, []]);
});

it('only the panel calls the RPCs of internal teams and providers', async () => {
  const services: readonly DescService[] = [
    RefundCaseService,
    FundsService,
    AdvanceService,
    ProductService,
    EventService,
  ];
  const isInternalWrite = (method: DescMethod) =>
    method.idempotency !== Level.NO_SIDE_EFFECTS && !mayCall(Role.ADMIN, 'live', method);
  const internal = services.flatMap(({ methods }) =>
    methods.filter(isInternalWrite).map(({ localName }) => localName),
  );
  expect(internal).toContain('recordSale');
  const calls: string[] = [];
  for await (const file of glob('gateway/dashboard/**/*.ts', {
    exclude: ['gateway/dashboard/simulate/**'],
  })) {
    const text = await readFile(file, 'utf8');
    calls.push(...internal.filter((name) => text.includes(`${name}(`)).map((name) => `${file}: ${name}`));
  }
  expect(calls).toEqual([]);
});

it('does not affect other merchants’ cases, sales and disputes, and refuses viewers', async () => {
  const [own, other] = [await sandboxFixture(fixture), await sandboxFixture(fixture)];
  const theirs = await other.step(await other.openCase(), 'open-dispute');
  const refundCaseId = idIn(theirs);
  const saleId = idIn(await other.sell());
  const dispute = theirs.document.querySelector('#win-dispute-dispute option')!.getAttribute('value')!;
  const advanceRequestId = idIn(await other.visitor.submit(`${other.home}/simulate`, '/simulate/advances'));
  const ids = { refundCaseId, saleId, disputeId: dispute, advanceRequestId };
  const viewer = await fixture.signIn({ [other.merchantId]: Role.VIEWER });
  const client = createClient(FundsService, fixture.transport);
  const theirTenant = { merchantId: other.merchantId, environment: Environment.TEST };
  const balance = await client.getBalance(theirTenant);
  const seen = (await other.visitor.get(`${other.home}/simulate/refund-cases/${refundCaseId}`)).text;
  for (const { method, path } of simulations().filter((place) => place.path.includes(':'))) {
    const send = async (who: typeof viewer, home: string) => {
      const proof = { _csrf: csrfTokenOf(who.token), _key: randomUUID() };
      const address = `${home}${filled(path, ids)}`;
      return method === 'GET' ? who.get(address) : who.post(address, { ...FORM, ...proof, dispute });
    };
    expect([path, (await send(viewer, other.home)).status]).toEqual([path, 403]);
    // Disputes and holds may come before the merchant's own sale with this id.
    const isOfAnySale = /:saleId\/(open-dispute|block|unblock)$/.test(path);
    const { status } = await send(own.visitor, own.home);
    if (!isOfAnySale) expect([path, status]).toEqual([path, 404]);
    expect(await client.getBalance(theirTenant)).toEqual(balance);
  }
  const again = (await other.visitor.get(`${other.home}/simulate/refund-cases/${refundCaseId}`)).text;
  const keys = /name="_key" value="[^"]*"/g;
  expect(again.replace(keys, '')).toBe(seen.replace(keys, ''));
});
