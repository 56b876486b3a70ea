import { randomUUID } from 'node:crypto';
import { glob, readFile } from 'node:fs/promises';
import type { DescMethod } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { auditedActions } from '../../../../gateway/dashboard/audit/audited-actions.texts.ts';
import { declaredServices } from '../../../../local/grants-table.ts';
import { AccountService, Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { ApiKeyScope, ApiKeyService } from '../../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { RefundInitiator } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { fundsCaller } from '../../../services/funds/funds-caller.ts';
import { webhooksFixture } from '../../../services/webhooks/webhooks-fixture.ts';
import { copyRows } from '../../../support/copy-rows.ts';
import { newWrite } from '../../../support/harness.ts';
import { sqlOf } from '../../../support/sql.ts';
import { seedMerchant } from '../../seed-merchant.ts';
import { type SeenPage, sharedDashboard } from '../dashboard-fixture.ts';

const fixture = await sharedDashboard();

const HOSTILE = '"><img src=x onerror=alert(1)></script>';

async function newMerchant() {
  const merchant = randomUUID();
  const admin = await fixture.signIn({ [merchant]: Role.ADMIN });
  const page = { live: `/live/${merchant}`, sandbox: `/sandbox/${merchant}` };
  const record = (action: string, request: object | null, accountId = admin.accountId) =>
    sqlOf(
      fixture.harness,
      `insert into platform.audit_entry
         (merchant_id, environment, id, caller, account_id, action, request, ip_address, request_id, occurred_at)
       values ($1, 'live', uuidv7(), 'dashboard', $2, $3, $4, '203.0.113.9', 'req_1', now())`,
      [merchant, accountId, action, request && JSON.stringify(request)],
    );
  return { merchant, admin, page, record };
}

const rowsOf = ({ document }: SeenPage) =>
  document
    .querySelectorAll('tbody tr')
    .map((row) =>
      Object.fromEntries(
        row.querySelectorAll('td').map((cell) => [cell.getAttribute('data-label'), cell.text.trim()]),
      ),
    );

test('an action is listed with the person, the action, the address and the request', async () => {
  const { merchant, admin, page } = await newMerchant();
  const accounts = createClient(AccountService, fixture.transport);
  const { members } = await accounts.listMembers({ merchantId: merchant, environment: Environment.LIVE });
  await admin.submit(`${page.live}/members`, '/invite', { email: 'bia@shop.example', role: 'developer' });
  await admin.submit(`${page.live}/members`, '/contact', { contact: 'ops@shop.example' });
  const trail = await admin.get(`${page.live}/audit`);
  const rows = rowsOf(trail);
  expect(rows.map(({ Action }) => Action)).toEqual([
    'Ana set the contact to ops@shop.example',
    'Ana invited bia@shop.example as Developer',
  ]);
  expect(rows[1]).toMatchObject({ Person: members[0]!.account!.email, 'IP address': '127.0.0.1' });
  expect(JSON.parse(trail.document.querySelectorAll('pre')[1]!.text.replaceAll('&quot;', '"'))).toEqual({
    email: 'bia@shop.example',
    role: 'ROLE_DEVELOPER',
    language: 'LANGUAGE_EN',
  });
  // The contact is of one environment, the team of both.
  expect(rowsOf(await admin.get(`${page.sandbox}/audit`))).toMatchObject([
    { Action: 'Ana invited bia@shop.example as Developer' },
  ]);
});

test('a decision reads as a sentence with amount and order, in both languages, and keeps its technical name', async () => {
  const { merchant, admin, page, record } = await newMerchant();
  const tenant = { merchantId: merchant, environment: Environment.LIVE };
  const { sell } = fundsCaller(fixture.transport, tenant);
  const { saleId } = await sell({ on: '2020-06-20', gross: 4_990n, sold: { orderNumber: '1043' } });
  const seed = seedMerchant(fixture.transport, merchant, Environment.LIVE);
  const { id } = await seed.refundCase({ saleId, amountMinor: 4_990n, initiator: RefundInitiator.CUSTOMER });
  await seed.sale(90_000n, 6);
  const { quoteId, amountMinor } = await seed.advance(30_000n);
  await record('payments.advances.v1.AdvanceService.RequestAdvance', { quoteId: quoteId.toUpperCase() });
  await admin.submit(`${page.live}/refunds/${id}`, '/approve');
  const trail = await admin.get(`${page.live}/audit`);
  expect(rowsOf(trail)[0]!.Action).toBe('Ana approved the refund of R$49.90, order 1043');
  const amount = `R$${(Number(amountMinor) / 100).toFixed(2)}`;
  expect(rowsOf(trail)[1]!.Action).toBe(`Ana requested an advance of ${amount}`);
  expect(trail.document.querySelector('td details code')!.text).toBe('RefundCaseService.DecideRefundCase');
  const [row] = rowsOf(await admin.reading('pt-BR').get(`${page.live}/audit`));
  expect(row!.Ação).toBe('Ana aprovou o reembolso de R$\u00a049,90, pedido 1043');
});

test('changes of endpoints are shown with their URL, even after they are deleted', async () => {
  const { merchant, admin, page } = await newMerchant();
  const { subscribe } = webhooksFixture(fixture.harness, fixture.transport);
  const { id, url } = await subscribe({ merchantId: merchant, environment: Environment.LIVE });
  const endpoint = `${page.live}/webhooks/${id}`;
  await admin.submit(`${endpoint}/edit`, '/edit', { url, every: 'on' });
  await admin.submit(endpoint, '/delete');
  const actions = (trail: SeenPage, label: string) => rowsOf(trail).map((row) => row[label]);
  expect(actions(await admin.get(`${page.live}/audit`), 'Action').slice(0, 2)).toEqual([
    `Ana deleted the webhook ${url}`,
    `Ana changed the webhook ${url}`,
  ]);
  const portuguese = await admin.reading('pt-BR').get(`${page.live}/audit`);
  expect(actions(portuguese, 'Ação').slice(0, 2)).toEqual([
    `Ana excluiu o webhook ${url}`,
    `Ana alterou o webhook ${url}`,
  ]);
});

test('an action names its API key, even if a hundred are newer', async () => {
  const { merchant, admin, page, record } = await newMerchant();
  const tenant = { merchantId: merchant, environment: Environment.LIVE };
  const keys = createClient(ApiKeyService, fixture.transport);
  const issue = (name: string) =>
    keys.issueApiKey({ ...newWrite(tenant), name, scopes: [ApiKeyScope.FUNDS_READ] });
  const { apiKey } = await issue('till');
  for (let count = 0; count < 100; count++) await issue('other');
  await record('payments.apikeys.v1.ApiKeyService.RevokeApiKey', { apiKeyId: apiKey!.id });
  const [row] = rowsOf(await admin.get(`${page.live}/audit`));
  expect(row!.Action).toBe('Ana revoked the API key “till”');
});

test('an action names the amount of its advance, even if fifty are newer', async () => {
  const { merchant, admin, page, record } = await newMerchant();
  const seed = seedMerchant(fixture.transport, merchant, Environment.LIVE);
  await seed.sale(90_000n, 6);
  const { quoteId } = await seed.advance(30_000n);
  await record('payments.advances.v1.AdvanceService.RequestAdvance', { quoteId });
  await copyRows(fixture.harness, 'advances.quote', ['id', quoteId], 50);
  await sqlOf(
    fixture.harness,
    `with copies as materialized (
       select jsonb_populate_record(request, jsonb_build_object(
                'id', gen_random_uuid(), 'quote_id', quote.id, 'requested_at', now())) as copy
         from advances.request join advances.quote using (merchant_id)
        where request.merchant_id = $1 and quote.id <> request.quote_id)
     insert into advances.request select (copy).* from copies`,
    [merchant],
  );
  const [row] = rowsOf(await admin.get(`${page.live}/audit`));
  expect(row!.Action).toMatch(/^Ana requested an advance of R\$/);
});

test('changes of the team name the person, even after their removal', async () => {
  const { merchant, admin, page, record } = await newMerchant();
  const { accountId } = await fixture.signIn({ [merchant]: Role.VIEWER });
  await record('payments.accounts.v1.AccountService.AcceptInvitation', {}, accountId);
  await admin.submit(`${page.live}/members`, `${accountId}/role`, { role: 'finance' });
  await admin.submit(`${page.live}/members`, `${accountId}/remove`);
  const rows = rowsOf(await admin.get(`${page.live}/audit`));
  expect(rows.slice(0, 2).map(({ Action }) => Action)).toEqual([
    'Ana removed Ana from the team',
    'Ana changed the role of Ana to Finance',
  ]);
});

test('RPCs without a description are shown by name, and hostile requests are escaped', async () => {
  const { admin, page, record } = await newMerchant();
  await record('payments.other.v1.OtherService.DoThings', { [HOSTILE]: HOSTILE });
  await record('payments.other.v1.OtherService.constructor', null);
  await record(`payments.${HOSTILE}`, {});
  const trail = await admin.get(`${page.live}/audit`);
  expect(trail.text).not.toContain('<img');
  expect(trail.document.querySelectorAll('td[data-label="Action"] code').map(({ text }) => text)).toEqual([
    `payments.${HOSTILE}`,
    'OtherService.constructor',
    'OtherService.DoThings',
  ]);
  const details = trail.document.querySelectorAll('td details').map(({ text }) => text);
  expect(details[0]).toContain('No further details.');
  expect(details[1]).toContain('Too large to be recorded.');
  expect(details[2]).toContain('onerror');
});

test('the filter names each of many members', async () => {
  const { merchant, admin, page } = await newMerchant();
  await sqlOf(
    fixture.harness,
    `with people as (
       insert into accounts.account (id, issuer, subject, email, email_verified, name, created_at)
       select uuidv7(), 'https://id.example', $1 || n::text, 'person-' || n || '@shop.example', true, 'Bia', now()
         from generate_series(1, 101) as n returning id
     )
     insert into accounts.member (merchant_id, account_id, role, created_at)
     select $1::uuid, id, 'VIEWER', now() from people`,
    [merchant],
  );
  const options = (await admin.get(`${page.live}/audit`)).document.querySelectorAll('#person option');
  // Everyone, the administrator and the others.
  expect(options).toHaveLength(103);
});

test('entries can be filtered by person, including former members', async () => {
  const { admin, page, record } = await newMerchant();
  const former = randomUUID();
  await record('payments.apikeys.v1.ApiKeyService.IssueApiKey', {});
  await record('payments.apikeys.v1.ApiKeyService.RevokeApiKey', {}, former);
  const all = await admin.get(`${page.live}/audit?person=`);
  expect(rowsOf(all)).toHaveLength(2);
  const link = all.document.querySelector('td a')!.getAttribute('href')!;
  expect(link).toBe(`${page.live}/audit?person=${former}`);
  const one = await admin.get(link);
  expect(rowsOf(one)).toMatchObject([{ Person: former, Action: 'Revoked an API key' }]);
  expect(one.document.querySelector('option[selected]')?.getAttribute('value')).toBe(former);
  const own = await admin.get(`${page.live}/audit?person=${admin.accountId}`);
  expect(rowsOf(own)).toHaveLength(1);
  expect((await admin.get(`${page.live}/audit?person=nobody`)).status).toBe(400);
});

test('a long audit trail is paginated, and keeps its filter', async () => {
  const { admin, page, record } = await newMerchant();
  for (let count = 0; count < 51; count++) await record('payments.x.v1.X.Y', { count });
  const first = await admin.get(`${page.live}/audit?person=${admin.accountId}`);
  expect(rowsOf(first)).toHaveLength(50);
  const next = first.document.querySelector('a[rel="next"]')!.getAttribute('href')!.replaceAll('&amp;', '&');
  expect(next).toContain(`person=${admin.accountId}`);
  expect(rowsOf(await admin.get(next))).toHaveLength(1);
  expect((await admin.get(`${page.live}/audit?page=nothing`)).status).toBe(422);
});

test('every description belongs to an existing RPC', async () => {
  const names = (await methods()).map(nameOf);
  for (const sentences of Object.values(auditedActions))
    expect(names).toEqual(expect.arrayContaining(Object.keys(sentences)));
});

test('every write that the dashboard makes for people has a description', async () => {
  const files = glob('gateway/dashboard/**/*.ts', { cwd: ROOT });
  const sources = await Array.fromAsync(files, (file) => readFile(new URL(file, ROOT), 'utf8'));
  const code = sources.join('\n');
  const isWrite = ({ idempotency }: DescMethod) =>
    idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  const called = (await methods()).filter(
    (method) => isWrite(method) && code.includes(`.${method.localName}(`),
  );
  expect(called.length).toBeGreaterThan(30);
  for (const sentences of Object.values(auditedActions))
    expect(Object.keys(sentences)).toEqual(expect.arrayContaining(called.map(nameOf)));
});

const ROOT = new URL('../../../../', import.meta.url);

const nameOf = ({ parent, name }: DescMethod) => `${parent.name}.${name}`;
const methods = async () => (await declaredServices()).flatMap((service) => service.methods);
