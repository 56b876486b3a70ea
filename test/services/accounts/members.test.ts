import { randomUUID } from 'node:crypto';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import { Language, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { DAY_MS } from '../../../services/platform/durations.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { newTenant, startHarness, type TestTenant } from '../../support/harness.ts';
import { lockWaits, openSession, sqlOf } from '../../support/sql.ts';
import { accountsFixture, newPerson } from './accounts-fixture.ts';

const WEEK_MS = 7 * DAY_MS;
const LAST_ADMIN = [Code.FailedPrecondition, 'LAST_ADMIN'] as const;
const NO_INVITATION = [Code.NotFound, 'INVITATION_NOT_FOUND'] as const;
const NO_MEMBER = [Code.NotFound, 'MEMBER_NOT_FOUND'] as const;
const IS_MEMBER = [Code.AlreadyExists, 'MEMBER_ALREADY_EXISTS'] as const;

const harness = await startHarness({ SERVICES: 'accounts' });
afterAll(() => harness.close());

const expire = (id: string) =>
  sqlOf(harness, `update accounts.invitation set expires_at = now() - interval '1 s' where id = $1`, [id]);

describe('members', () => {
  const fixture = () => accountsFixture(harness.transports.inProcess);
  const rolesOf = async (tenant: TestTenant) => {
    const { members } = await fixture().client.listMembers(tenant);
    return Object.fromEntries(members.map(({ account, role }) => [account!.id, role]));
  };

  const listedWithExpired = async (tenant: TestTenant) => {
    const { invitations } = await fixture().client.listInvitations({ ...tenant, includeExpired: true });
    return invitations.map(({ id }) => id);
  };

  it('invites an address, and makes its account a member in both environments', async () => {
    const tenant = newTenant();
    const ana = await fixture().signIn({ ...newPerson(), email: 'Ana.Souza@Shop.Example' });
    const invitation = await fixture().invite(tenant, 'ANA.souza@shop.example', Role.ADMIN);
    expect(invitation).toMatchObject({
      merchantId: tenant.merchantId,
      email: 'ana.souza@shop.example',
      role: Role.ADMIN,
    });
    const lifetime = timestampMs(invitation.expiresAt!) - timestampMs(invitation.createdAt!);
    expect(lifetime).toBe(WEEK_MS);
    const listed = { ...tenant, environment: Environment.TEST };
    expect((await fixture().client.listInvitations(listed)).invitations).toEqual([invitation]);
    const { invitations } = await fixture().client.listAccountInvitations({ accountId: ana.accountId });
    expect(invitations).toEqual([invitation]);
    const membership = await fixture().accept(tenant, invitation.id, ana.accountId);
    expect(membership).toMatchObject({ merchantId: tenant.merchantId, role: Role.ADMIN });
    const { members } = await fixture().client.listMembers(listed);
    expect(members).toMatchObject([{ account: { id: ana.accountId }, role: Role.ADMIN }]);
    expect((await fixture().client.listInvitations(tenant)).invitations).toEqual([]);
    expect(await rolesOf(newTenant())).toEqual({});
  });

  it('refuses an invitation to accounts without the verified address', async () => {
    const tenant = newTenant();
    const person = newPerson();
    const { id } = await fixture().invite(tenant, 'karl@shop.example');
    const others = [
      { ...person, email: 'karla@shop.example' },
      { ...newPerson(), email: 'karl@shop.example', emailVerified: false },
      // The Kelvin sign, which Unicode writes in lower case as k.
      { ...newPerson(), email: '\u212aarl@shop.example' },
      { ...newPerson(), email: '' },
    ];
    for (const other of others) {
      const { accountId } = await fixture().signIn(other);
      await expectRefusal(fixture().accept(tenant, id, accountId), ...NO_INVITATION);
      expect((await fixture().client.listAccountInvitations({ accountId })).invitations).toEqual([]);
    }
    await expectRefusal(fixture().accept(tenant, id, randomUUID()), ...NO_INVITATION);
    const { accountId } = await fixture().signIn({ ...person, email: 'karl@shop.example' });
    await expectRefusal(fixture().accept(newTenant(), id, accountId), ...NO_INVITATION);
    await fixture().accept(tenant, id, accountId);
  });

  it('replaces the open invitation of an address, and accepts none twice, late or after it was revoked', async () => {
    const tenant = newTenant();
    const { email, accountId } = await fixture().signIn();
    const accept = (invitationId: string) => fixture().accept(tenant, invitationId, accountId);
    const expectState = (invitationId: string, state: string) =>
      expectRefusal(accept(invitationId), Code.FailedPrecondition, 'INVITATION_STATE', { state });
    const revoke = (invitationId: string, merchant = tenant) =>
      fixture().client.revokeInvitation({ ...fixture().write(merchant), invitationId });

    const replaced = await fixture().invite(tenant, email);
    const late = await fixture().invite(tenant, email, Role.DEVELOPER);
    await expectState(replaced.id, 'REVOKED');
    await expire(late.id);
    expect((await fixture().client.listInvitations(tenant)).invitations).toEqual([]);
    expect((await fixture().client.listAccountInvitations({ accountId })).invitations).toEqual([]);
    await expectState(late.id, 'EXPIRED');
    expect(await listedWithExpired(tenant)).toEqual([late.id]);
    const taken = await fixture().invite(tenant, email);
    await expectRefusal(revoke(taken.id, newTenant()), ...NO_INVITATION);
    await revoke(taken.id);
    await revoke(taken.id);
    await expectState(taken.id, 'REVOKED');
    expect(await listedWithExpired(tenant)).toEqual([]);
    await expectRefusal(revoke(randomUUID()), ...NO_INVITATION);
    const accepted = await fixture().invite(tenant, email);
    await accept(accepted.id);
    await expectState(accepted.id, 'ACCEPTED');
    const refusal = [Code.FailedPrecondition, 'INVITATION_STATE', { state: 'ACCEPTED' }] as const;
    await expectRefusal(revoke(accepted.id), ...refusal);
  });

  it('does not invite a member, as identified by the verified address', async () => {
    const tenant = newTenant();
    const ana = await fixture().join(tenant, Role.VIEWER);
    await expectRefusal(fixture().invite(tenant, ana.email.toUpperCase(), Role.ADMIN), ...IS_MEMBER);
    await fixture().invite(newTenant(), ana.email);
    const { issuer, subject, name } = ana;
    await fixture().signIn({ issuer, subject, name, email: 'boss@shop.example', emailVerified: false });
    await fixture().invite(tenant, 'boss@shop.example');
  });

  it('keeps the higher role of a member who accepts another invitation', async () => {
    const tenant = newTenant();
    const { issuer, subject, name, accountId } = await fixture().join(tenant, Role.DEVELOPER);
    const acceptAs = async (role: Role) => {
      const email = `${randomUUID()}@new.example`;
      const { id } = await fixture().invite(tenant, email, role);
      await fixture().signIn({ issuer, subject, name, email, emailVerified: true });
      return (await fixture().accept(tenant, id, accountId)).role;
    };
    expect(await acceptAs(Role.VIEWER)).toBe(Role.DEVELOPER);
    expect(await acceptAs(Role.ADMIN)).toBe(Role.ADMIN);
    expect(await rolesOf(tenant)).toEqual({ [accountId]: Role.ADMIN });
  });

  it('changes roles and removes members, but never the last administrator', async () => {
    const tenant = newTenant();
    const sandbox = { ...tenant, environment: Environment.TEST };
    const { accountId: first } = await fixture().join(tenant, Role.ADMIN);
    const { accountId: second, email } = await fixture().join(sandbox, Role.VIEWER);
    await expectRefusal(fixture().change(tenant, first, Role.DEVELOPER), ...LAST_ADMIN);
    await expectRefusal(fixture().remove(sandbox, first), ...LAST_ADMIN);
    await fixture().change(tenant, first, Role.ADMIN);
    const { member } = await fixture().change(sandbox, second, Role.ADMIN);
    expect(member).toMatchObject({ account: { id: second, email }, role: Role.ADMIN });
    expect((await fixture().client.listMembers(tenant)).members).toContainEqual(member);
    await fixture().remove(tenant, first);
    expect(await rolesOf(tenant)).toEqual({ [second]: Role.ADMIN });
    await expectRefusal(fixture().remove(tenant, first), ...NO_MEMBER);
    await expectRefusal(fixture().change(tenant, first, Role.VIEWER), ...NO_MEMBER);
    await expectRefusal(fixture().change(newTenant(), second, Role.VIEWER), ...NO_MEMBER);
    await expectRefusal(fixture().remove(tenant, second), ...LAST_ADMIN);
  });
});

describe('a change of role', () => {
  const fixture = () => accountsFixture(harness.transports.inProcess);
  const openSessions = async (accountId: string) =>
    (await fixture().client.listSessions({ accountId })).sessions.length;

  it.each([
    ['ends the sessions', (tenant, account) => fixture().change(tenant, account, Role.DEVELOPER)],
    ['ends the sessions, if it is a removal', (tenant, account) => fixture().remove(tenant, account)],
  ] as [string, (tenant: TestTenant, account: string) => Promise<unknown>][])(
    '%s of the member alone',
    async (_, change) => {
      const tenant = newTenant();
      const admin = await fixture().join(tenant, Role.ADMIN);
      const person = newPerson();
      const { accountId } = await fixture().join(tenant, Role.VIEWER, person);
      await fixture().signIn(person);
      await fixture().change(tenant, accountId, Role.VIEWER);
      await expectRefusal(fixture().remove(newTenant(), accountId), ...NO_MEMBER);
      expect(await openSessions(accountId)).toBe(2);
      await change(tenant, accountId);
      expect(await openSessions(accountId)).toBe(0);
      expect(await openSessions(admin.accountId)).toBe(1);
    },
  );

  it('gives the role to the sessions that follow, and none to one that had a higher role', async () => {
    const tenant = newTenant();
    await fixture().join(tenant, Role.ADMIN);
    const person = newPerson();
    const { accountId, headers } = await fixture().join(tenant, Role.ADMIN, person);
    const contact = { email: 'a@shop.example', language: Language.EN };
    const setContact = (headers: Record<string, string>) =>
      fixture().client.setMerchantContact({ ...fixture().write(tenant), ...contact }, { headers });
    await setContact(headers);
    await fixture().change(tenant, accountId, Role.VIEWER);
    await expectRefusal(setContact(headers), Code.Unauthenticated, 'SESSION_INVALID');
    const again = await fixture().signIn(person);
    await expectRefusal(setContact(again.headers), Code.PermissionDenied, 'ROLE_MISSING');
    await fixture().change(tenant, accountId, Role.ADMIN);
    await setContact((await fixture().signIn(person)).headers);
  });

  it('locks the sessions in the order in which a sign-out everywhere does', async () => {
    const tenant = newTenant();
    await fixture().join(tenant, Role.ADMIN);
    const person = newPerson();
    const { accountId, sessionId: first } = await fixture().join(tenant, Role.VIEWER, person);
    const { sessionId: last } = await fixture().signIn(person);
    await using other = await openSession(harness.databaseUrl);
    const lock = (id: string) =>
      other.query('select from accounts.session where id = $1 for update nowait', [id]);
    await other.query('begin');
    await lock(first);
    const changed = fixture().change(tenant, accountId, Role.DEVELOPER);
    await expect.poll(() => lockWaits(harness)).toHaveLength(1);
    await lock(last);
    await other.query('commit');
    await changed;
    expect(await openSessions(accountId)).toBe(0);
  });

  it('leaves only the session in which a person lowers their own role', async () => {
    const tenant = newTenant();
    await fixture().join(tenant, Role.ADMIN);
    const person = newPerson();
    const { accountId } = await fixture().join(tenant, Role.ADMIN, person);
    const { headers, sessionId } = await fixture().signIn(person);
    const lower = { ...fixture().write(tenant), accountId, role: Role.VIEWER };
    await fixture().client.changeMemberRole(lower, { headers });
    expect((await fixture().client.listSessions({ accountId })).sessions).toMatchObject([{ id: sessionId }]);
  });
});

describe('a member whose address is the contact', () => {
  it('is no longer mailed once removed, in either environment; other contacts stay', async () => {
    const { client, join, remove, write } = accountsFixture(harness.transports.inProcess);
    const tenant = newTenant();
    const sandbox = { ...tenant, environment: Environment.TEST };
    const { email: ana } = await join(tenant, Role.ADMIN);
    const person = newPerson();
    const email = `Bia.${person.email}`;
    const { accountId } = await join(tenant, Role.ADMIN, { ...person, email });
    const setContact = (of: typeof tenant, address: string) =>
      client.setMerchantContact({ ...write(of), email: address, language: Language.EN });
    const other = newTenant();
    for (const of of [tenant, sandbox, other]) await setContact(of, email.toLowerCase());
    await remove(sandbox, accountId);
    const fallback = { emails: [ana], isSet: false };
    expect(await client.getMerchantContact(tenant)).toMatchObject(fallback);
    expect(await client.getMerchantContact(sandbox)).toMatchObject(fallback);
    expect(await client.getMerchantContact(other)).toMatchObject({ isSet: true });
    await setContact(tenant, ana);
    await remove(tenant, (await join(tenant, Role.VIEWER)).accountId);
    expect(await client.getMerchantContact(tenant)).toMatchObject({ emails: [ana], isSet: true });
  });

  it('stays the contact when somebody who merely claims the address is removed', async () => {
    const { client, join, remove, signIn, write } = accountsFixture(harness.transports.inProcess);
    const tenant = newTenant();
    await join(tenant, Role.ADMIN);
    const address = 'ops@shop.example';
    await client.setMerchantContact({ ...write(tenant), email: address, language: Language.EN });
    const { accountId, issuer, subject, name } = await join(tenant, Role.VIEWER);
    await signIn({ issuer, subject, name, email: address, emailVerified: false });
    await remove(tenant, accountId);
    expect(await client.getMerchantContact(tenant)).toMatchObject({ emails: [address], isSet: true });
  });
});

describe('concurrent changes of members', () => {
  const fixture = () => accountsFixture(harness.transports.inProcess);

  it.each([
    ['removals', (tenant, account) => fixture().remove(tenant, account)],
    ['demotions', (tenant, account) => fixture().change(tenant, account, Role.VIEWER)],
  ] as [string, (tenant: TestTenant, account: string) => Promise<unknown>][])(
    'leave an administrator after %s from both environments',
    async (_, take) => {
      for (let round = 0; round < 5; round += 1) {
        const tenant = newTenant();
        const sandbox = { ...tenant, environment: Environment.TEST };
        const admins = [
          await fixture().join(tenant, Role.ADMIN),
          await fixture().join(tenant, Role.ADMIN),
          await fixture().join(tenant, Role.ADMIN),
        ];
        const outcomes = await Promise.allSettled(
          admins.map(({ accountId }, n) => take(n % 2 ? tenant : sandbox, accountId)),
        );
        expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected']);
        const refused = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
        await expectRefusal(Promise.reject(refused.reason), ...LAST_ADMIN);
        const { members } = await fixture().client.listMembers(tenant);
        expect(members.filter(({ role }) => role === Role.ADMIN)).toHaveLength(1);
      }
    },
  );

  it('leave one open invitation per address, and one membership per account', async () => {
    const tenant = newTenant();
    const { email, accountId } = await fixture().signIn();
    await Promise.all(Array.from({ length: 6 }, () => fixture().invite(tenant, email)));
    const { invitations } = await fixture().client.listInvitations(tenant);
    expect(invitations).toHaveLength(1);
    const accepting = Array.from({ length: 4 }, () =>
      fixture().accept(tenant, invitations[0]!.id, accountId),
    );
    const accepted = (await Promise.allSettled(accepting)).filter(({ status }) => status === 'fulfilled');
    expect(accepted).toHaveLength(1);
  });

  it('send an address at most ten invitations a day, and a thousand in total', async () => {
    const [tenant, other] = [newTenant(), newTenant()];
    const email = 'often@shop.example';
    for (let n = 0; n < 10; n += 1) {
      const { id: invitationId } = await fixture().invite(tenant, email);
      await fixture().client.revokeInvitation({ ...fixture().write(tenant), invitationId });
    }
    const refusal = (limit: string) =>
      [Code.ResourceExhausted, 'INVITATION_LIMIT_REACHED', { limit }] as const;
    await expectRefusal(fixture().invite(tenant, email), ...refusal('10'));
    await fixture().invite(other, email);
    await sqlOf(
      harness,
      `insert into accounts.invitation (merchant_id, id, email, role, created_at, expires_at, revoked_at)
       select $1, gen_random_uuid(), n || '@shop.example', 'VIEWER', now(), now(), now()
         from generate_series(1, 990) as n`,
      [tenant.merchantId],
    );
    await expectRefusal(fixture().invite(tenant, 'new@shop.example'), ...refusal('1000'));
    const aDayAgo =
      "update accounts.invitation set created_at = now() - interval '1 day' where merchant_id = $1";
    await sqlOf(harness, aDayAgo, [tenant.merchantId]);
    await fixture().invite(tenant, email);
  });

  it('keep members and open invitations within 500', async () => {
    const tenant = newTenant();
    const { accountId } = await fixture().join(tenant, Role.ADMIN);
    await sqlOf(
      harness,
      `insert into accounts.invitation (merchant_id, id, email, role, created_at, expires_at)
       select $1, gen_random_uuid(), n || '@shop.example', 'VIEWER', now(),
              now() + case when n > 500 then interval '-1 s' else interval '1 day' end
         from generate_series(3, 510) as n`,
      [tenant.merchantId],
    );
    const inviting = ['one@shop.example', 'two@shop.example', 'three@shop.example'].map((email) =>
      fixture().invite(tenant, email),
    );
    const outcomes = await Promise.allSettled(inviting);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const limit = [Code.ResourceExhausted, 'MEMBER_LIMIT_REACHED', { limit: '500' }] as const;
    await expectRefusal(fixture().invite(tenant, 'four@shop.example'), ...limit);
    await fixture().invite(tenant, '7@shop.example', Role.DEVELOPER);
    const { invitations } = await fixture().client.listInvitations({ ...tenant, pageSize: 1 });
    await fixture().client.revokeInvitation({ ...fixture().write(tenant), invitationId: invitations[0]!.id });
    await fixture().invite(tenant, 'four@shop.example');
    expect((await fixture().client.listMembers(tenant)).members[0]!.account!.id).toBe(accountId);
  });
});
