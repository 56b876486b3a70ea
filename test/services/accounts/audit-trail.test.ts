import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { EventService } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { REQUEST_ID_HEADER } from '../../../services/platform/rpc/call-context.ts';
import { newTenant, newWrite, startHarness } from '../../support/harness.ts';
import { sqlOf } from '../../support/sql.ts';
import { accountsFixture, PERSON_ADDRESS, signInRequest } from './accounts-fixture.ts';

const harness = await startHarness({ SERVICES: 'accounts,webhooks' });
afterAll(() => harness.close());

const headersOf = ({ accountId, headers }: { accountId: string; headers: Record<string, string> }) => ({
  ...headers,
  [REQUEST_ID_HEADER]: `request-of-${accountId}`,
});

describe('the audit trail', () => {
  const fixture = () => accountsFixture(harness.transports.inProcess);

  it('lists who did what, when and from where, newest first; members are of both environments', async () => {
    const from = Date.now();
    const tenant = newTenant();
    const sandbox = { ...tenant, environment: Environment.TEST };
    const ana = await fixture().join(tenant, Role.ADMIN);
    const headers = headersOf(ana);
    const email = 'new@shop.example';
    const invited = { ...newWrite(tenant), email, role: Role.DEVELOPER };
    const { invitation } = await fixture().client.inviteMember(invited, { headers });
    const revoked = { ...newWrite(tenant), invitationId: invitation!.id };
    await fixture().client.revokeInvitation(revoked, { headers });
    await fixture().client.inviteMember({ ...invited, ...sandbox }, { headers });

    const people = { ...tenant, peopleOnly: true };
    const { entries } = await fixture().client.listAuditEntries({ ...people, accountId: ana.accountId });
    const who = {
      accountId: ana.accountId,
      accountEmail: ana.email,
      ipAddress: PERSON_ADDRESS,
      caller: 'test',
      startedBy: '',
    };
    const service = 'payments.accounts.v1.AccountService';
    const invitedOnce = { action: `${service}.InviteMember`, request: { email, role: 'ROLE_DEVELOPER' } };
    const revokedOnce = {
      action: `${service}.RevokeInvitation`,
      request: { invitationId: invitation!.id },
    };
    const entriesIn = (environment: Environment) =>
      [invitedOnce, revokedOnce, invitedOnce].map((entry) => ({
        ...who,
        ...entry,
        environment,
        requestId: headers[REQUEST_ID_HEADER],
      }));
    expect(entries).toMatchObject(entriesIn(Environment.LIVE));
    const inSandbox = await fixture().client.listAuditEntries({ ...sandbox, peopleOnly: true });
    expect(inSandbox.entries).toMatchObject(entriesIn(Environment.TEST));
    const seconds = Number(entries[0]!.occurredAt!.seconds);
    expect(seconds).toBeGreaterThanOrEqual(Math.floor(from / 1_000) - 1);
    // What a service did by itself names no person.
    const [, , , own] = (await fixture().client.listAuditEntries(tenant)).entries;
    expect(own).toMatchObject({
      action: `${service}.AcceptInvitation`,
      caller: 'test',
      accountId: '',
      ipAddress: '',
    });
    expect((await fixture().client.listAuditEntries(newTenant())).entries).toEqual([]);
  });

  it('can be filtered by account, and shows no address for an unknown account', async () => {
    const tenant = newTenant();
    const ana = await fixture().join(tenant, Role.ADMIN);
    const gone = await fixture().join(tenant, Role.ADMIN);
    const unknown = randomUUID();
    for (const person of [ana, gone]) {
      const invited = { ...newWrite(tenant), email: `${randomUUID()}@shop.example` };
      const headers = headersOf(person);
      await fixture().client.inviteMember({ ...invited, role: Role.VIEWER }, { headers });
    }
    const forget = 'update platform.audit_entry set account_id = $1 where account_id = $2';
    await sqlOf(harness, forget, [unknown, gone.accountId]);
    const of = async (accountId: string) =>
      (await fixture().client.listAuditEntries({ ...tenant, accountId })).entries;
    expect(await of(ana.accountId)).toMatchObject([{ accountEmail: ana.email }]);
    expect(await of(unknown)).toMatchObject([{ accountId: unknown, accountEmail: '' }]);
    expect(await of(randomUUID())).toEqual([]);
  });

  it('shows an entry without its request if the request was too large to store', async () => {
    const tenant = newTenant(Environment.TEST);
    const ana = await fixture().join(tenant, Role.DEVELOPER);
    const events = createClient(EventService, harness.transports.inProcess);
    const write = () => ({ ...newWrite(tenant), objectId: 'one' });
    const { eventTypes } = await events.listEventTypes({});
    const { name: type, dataExample } = eventTypes.find(({ name }) => name === 'refund.failed.v1')!;
    const data = { ...dataExample!, reason: 'é'.repeat(16_384) };
    await events.publishEvent({ ...write(), type, data }, { headers: headersOf(ana) });
    const { entries } = await fixture().client.listAuditEntries({ ...tenant, peopleOnly: true });
    expect(entries).toHaveLength(1);
    expect(entries[0]!.request).toBeUndefined();
  });

  it('records sign-ins and sign-outs of members, once each, in both environments of each merchant', async () => {
    const [one, other] = [newTenant(), newTenant()];
    const { client, invite, accept, join } = fixture();
    const ana = await join(one, Role.VIEWER);
    await accept(other, (await invite(other, ana.email)).id, ana.accountId);
    const again = signInRequest(ana);
    for (let n = 0; n < 2; n += 1) await client.startSession(again);
    for (let n = 0; n < 2; n += 1)
      await client.endSession(ana, { headers: headersOf(ana) }).catch(() => undefined);
    await client.endAllSessions({ accountId: ana.accountId });
    for (const { merchantId } of [one, other]) {
      for (const environment of [Environment.LIVE, Environment.TEST]) {
        const { entries } = await client.listAuditEntries({ merchantId, environment });
        const sessions = entries.filter(({ action }) => /Sessions?$/.test(action));
        expect(sessions.map(({ action }) => action.split('.').at(-1))).toEqual([
          ...['EndAllSessions', 'EndSession', 'StartSession'],
        ]);
        const [everywhere, out, signedIn] = sessions;
        const { userAgent, ipAddress } = again;
        expect(signedIn).toMatchObject({ accountId: ana.accountId, ipAddress, request: { userAgent } });
        expect(out).toMatchObject({ accountId: ana.accountId, ipAddress: PERSON_ADDRESS });
        expect(everywhere).toMatchObject({
          accountId: '',
          caller: 'test',
          request: { accountId: ana.accountId },
        });
      }
    }
  });
});
