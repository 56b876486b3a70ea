import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { EventService } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { ACTOR_HEADERS, REQUEST_ID_HEADER } from '../../../services/platform/rpc/call-context.ts';
import { newKey, newTenant, startHarness, type TestHarness } from '../../support/harness.ts';
import { accountsFixture } from './accounts-fixture.ts';

let harness: TestHarness;
beforeAll(async () => {
  harness = await startHarness({ SERVICES: 'accounts,webhooks' });
});
afterAll(() => harness.close());

const headersOf = (accountId: string) => ({
  [ACTOR_HEADERS.accountId]: accountId,
  [ACTOR_HEADERS.ipAddress]: '2001:db8::7',
  [REQUEST_ID_HEADER]: `request of ${accountId}`.replaceAll(' ', '-'),
});

describe('the audit trail', () => {
  const fixture = () => accountsFixture(harness.transports.inProcess);

  it('lists who did what, when and from where, newest first, of one environment', async () => {
    const from = Date.now();
    const tenant = newTenant();
    const sandbox = { ...tenant, environment: Environment.TEST };
    const ana = await fixture().join(tenant, Role.ADMIN);
    const headers = headersOf(ana.accountId);
    const email = 'new@shop.example';
    const invited = { ...tenant, idempotencyKey: newKey(), email, role: Role.DEVELOPER };
    const { invitation } = await fixture().client.inviteMember(invited, { headers });
    const revoked = { ...tenant, idempotencyKey: newKey(), invitationId: invitation!.id };
    await fixture().client.revokeInvitation(revoked, { headers });
    await fixture().client.inviteMember({ ...invited, ...sandbox }, { headers });

    const { entries } = await fixture().client.listAuditEntries(tenant);
    const who = { accountId: ana.accountId, accountEmail: ana.email, ipAddress: '2001:db8::7' };
    const entry = { ...who, requestId: headers[REQUEST_ID_HEADER], environment: Environment.LIVE };
    const service = 'payments.accounts.v1.AccountService';
    expect(entries).toMatchObject([
      { ...entry, action: `${service}.RevokeInvitation`, request: { invitationId: invitation!.id } },
      { ...entry, action: `${service}.InviteMember`, request: { email, role: 'ROLE_DEVELOPER' } },
    ]);
    const seconds = Number(entries[0]!.occurredAt!.seconds);
    expect(seconds).toBeGreaterThanOrEqual(Math.floor(from / 1_000) - 1);
    expect((await fixture().client.listAuditEntries(sandbox)).entries).toHaveLength(1);
    expect((await fixture().client.listAuditEntries(newTenant())).entries).toEqual([]);
  });

  it('can be filtered by account, and shows no address for an unknown account', async () => {
    const tenant = newTenant();
    const ana = await fixture().join(tenant, Role.ADMIN);
    const unknown = randomUUID();
    for (const accountId of [ana.accountId, unknown]) {
      const invited = { ...tenant, idempotencyKey: newKey(), email: `${randomUUID()}@shop.example` };
      const headers = headersOf(accountId);
      await fixture().client.inviteMember({ ...invited, role: Role.VIEWER }, { headers });
    }
    const of = async (accountId: string) =>
      (await fixture().client.listAuditEntries({ ...tenant, accountId })).entries;
    expect(await of(ana.accountId)).toMatchObject([{ accountEmail: ana.email }]);
    expect(await of(unknown)).toMatchObject([{ accountId: unknown, accountEmail: '' }]);
    expect(await of(randomUUID())).toEqual([]);
  });

  it('shows an entry without its request if the request was too large to store', async () => {
    const tenant = newTenant();
    const { accountId } = await fixture().signIn();
    const events = createClient(EventService, harness.transports.inProcess);
    const write = () => ({ ...tenant, idempotencyKey: newKey(), objectId: 'one' });
    const { eventTypes } = await events.listEventTypes({});
    const { name: type, dataExample } = eventTypes.find(({ name }) => name === 'refund.failed.v1')!;
    const data = { ...dataExample!, reason: 'é'.repeat(8_192) };
    await events.publishEvent({ ...write(), type, data }, { headers: headersOf(accountId) });
    const { entries } = await fixture().client.listAuditEntries(tenant);
    expect(entries).toHaveLength(1);
    expect(entries[0]!.request).toBeUndefined();
  });
});
