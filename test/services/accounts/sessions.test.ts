import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { HOUR_MS } from '../../../services/platform/durations.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { newTenant, startHarness } from '../../support/harness.ts';
import { sqlOf } from '../../support/sql.ts';
import { accountsFixture, newPerson, newTokenSha256, signInRequest } from './accounts-fixture.ts';

let statements: string[] = [];
const harness = await startHarness({ SERVICES: 'accounts', SIGN_IN_LIMIT_ACCOUNT: '20' }, (sql) =>
  statements.push(sql),
);
afterAll(() => harness.close());

/** Moves the start or last use of a session into the past. */
const age = (id: string, column: 'last_seen_at' | 'expires_at', ms: number) =>
  sqlOf(harness, `update accounts.session set ${column} = now() - $2 * interval '1 ms' where id = $1`, [
    id,
    ms,
  ]);

describe('sessions', () => {
  const fixture = () => accountsFixture(harness.transports.inProcess);
  const show = (tokenSha256: Uint8Array, unattended = false) =>
    fixture().client.authenticateSession({ tokenSha256, unattended });
  const expectInvalid = (tokenSha256: Uint8Array) =>
    expectRefusal(show(tokenSha256), Code.Unauthenticated, 'SESSION_INVALID');

  it('start twenty times within ten minutes for an account, at most', async () => {
    const [person, other] = [newPerson(), newPerson()];
    const start = (of = person) => fixture().client.startSession(signInRequest(of));
    const tries = await Promise.allSettled(Array.from({ length: 25 }, () => start()));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
    await expectRefusal(start(), Code.ResourceExhausted, 'SIGN_IN_LIMIT_REACHED');
    await start(other);
    const earlier = `update accounts.session set id = platform.first_id(now() - interval '11 minutes')
      where id = (select id from accounts.session where account_id = $1 limit 1) returning account_id`;
    const { id } = (
      await sqlOf<{ id: string }>(harness, 'select id from accounts.account where subject = $1', [
        person.subject,
      ])
    )[0]!;
    expect(await sqlOf(harness, earlier, [id])).toHaveLength(1);
    await start();
    await expectRefusal(start(), Code.ResourceExhausted, 'SIGN_IN_LIMIT_REACHED');
  });

  it('of a former provider end with the documented statement', async () => {
    const issuer = 'https://id.new.example';
    const [former, current] = [signInRequest(), { ...signInRequest(), issuer }];
    for (const request of [former, current]) await fixture().client.startSession(request);
    const guide = await readFile('docs/dashboard/signing-in.md', 'utf8');
    const statement = /```sql\n(.*?)```/s.exec(guide)![1]!;
    await sqlOf(harness, statement.replace('https://id.shop.example', issuer));
    await expectInvalid(former.tokenSha256);
    await show(current.tokenSha256);
  });

  it('creates an account at the first sign-in, and updates its claims at each later one', async () => {
    const person = newPerson();
    const first = await fixture().client.startSession(signInRequest(person));
    expect(first.account).toMatchObject({ email: person.email, emailVerified: true, name: person.name });
    const renamed = { ...person, email: 'ana@other.example', emailVerified: false, name: '' };
    const second = await fixture().client.startSession(signInRequest(renamed));
    const { id, createdAt } = first.account!;
    expect(second.account).toMatchObject({
      id,
      createdAt,
      email: renamed.email,
      emailVerified: false,
      name: '',
    });
    expect(second.session!.id).not.toBe(first.session!.id);
    const elsewhere = { ...person, issuer: 'https://other.example' };
    expect((await fixture().client.startSession(signInRequest(elsewhere))).account!.id).not.toBe(id);
  });

  it('returns the account of a session, where it was started, and its memberships', async () => {
    const one = newTenant();
    const ana = await fixture().join(one, Role.ADMIN);
    const { merchantId } = newTenant();
    const invitation = await fixture().invite({ ...one, merchantId }, ana.email, Role.DEVELOPER);
    await fixture().accept({ ...one, merchantId }, invitation.id, ana.accountId);
    const { account, session, memberships } = await show(ana.tokenSha256);
    expect(account).toMatchObject({ id: ana.accountId, email: ana.email });
    expect(session).toMatchObject({ id: ana.sessionId, ipAddress: ana.ipAddress, userAgent: ana.userAgent });
    expect(timestampMs(session!.expiresAt!) - timestampMs(session!.createdAt!)).toBe(12 * HOUR_MS);
    const expected = [
      { merchantId: one.merchantId, role: Role.ADMIN },
      { merchantId, role: Role.DEVELOPER },
    ];
    const inOrder = expected.sort((a, b) => (a.merchantId < b.merchantId ? -1 : 1));
    expect(memberships.map(({ merchantId: at, role }) => ({ merchantId: at, role }))).toEqual(inOrder);
  });

  it('returns the same session for a repeated start, and rejects a token used before', async () => {
    const request = signInRequest();
    const first = await fixture().client.startSession(request);
    expect((await fixture().client.startSession(request)).session).toEqual(first.session);
    const another = { ...signInRequest(), tokenSha256: request.tokenSha256 };
    const used = [Code.AlreadyExists, 'SESSION_TOKEN_USED'] as const;
    await expectRefusal(fixture().client.startSession(another), ...used);
    await fixture().client.endSession({ accountId: first.account!.id, sessionId: first.session!.id });
    await expectRefusal(fixture().client.startSession(request), ...used);
    await expectInvalid(request.tokenSha256);
  });

  it('ends only the session that a new one replaces, of any account', async () => {
    const before = await fixture().signIn();
    const beside = await fixture().signIn();
    const request = { ...signInRequest(), replacedTokenSha256: before.tokenSha256 };
    await fixture().client.startSession(request);
    await expectInvalid(before.tokenSha256);
    await show(beside.tokenSha256);
    await show(request.tokenSha256);
    await fixture().client.startSession({ ...request, replacedTokenSha256: request.tokenSha256 });
    await show(request.tokenSha256);
  });

  it('ends one session, or all of an account; an ended session is like an unknown one', async () => {
    const person = newPerson();
    const [one, two, three] = [
      await fixture().signIn(person),
      await fixture().signIn(person),
      await fixture().signIn(person),
    ];
    const stranger = await fixture().signIn();
    const { accountId } = one;
    const end = (sessionId: string, owner = accountId) =>
      fixture().client.endSession({ accountId: owner, sessionId });
    await end(one.sessionId, stranger.accountId);
    await show(one.tokenSha256);
    await end(one.sessionId);
    await end(one.sessionId);
    await end(randomUUID());
    await expectInvalid(one.tokenSha256);
    await age(two.sessionId, 'last_seen_at', 2 * HOUR_MS);
    expect((await fixture().client.endAllSessions({ accountId })).endedCount).toBe(1);
    expect((await fixture().client.endAllSessions({ accountId })).endedCount).toBe(0);
    for (const { tokenSha256 } of [two, three]) await expectInvalid(tokenSha256);
    await show(stranger.tokenSha256);
    await expectInvalid(newTokenSha256());
  });

  it('expires an idle session, and every session at the end of its lifetime', async () => {
    const expired = [Code.Unauthenticated, 'SESSION_EXPIRED'] as const;
    const { accountId, sessionId, tokenSha256 } = await fixture().signIn();
    await age(sessionId, 'last_seen_at', HOUR_MS - 5_000);
    await show(tokenSha256, true);
    await age(sessionId, 'last_seen_at', HOUR_MS + 1_000);
    await expectRefusal(show(tokenSha256), ...expired);
    expect((await fixture().client.listSessions({ accountId })).sessions).toEqual([]);
    const old = await fixture().signIn();
    await age(old.sessionId, 'expires_at', 1_000);
    await expectRefusal(show(old.tokenSha256), ...expired);
    expect((await fixture().client.listSessions({ accountId: old.accountId })).sessions).toEqual([]);
  });

  it('is kept alive by use, to the minute, but not by unattended requests', async () => {
    const { accountId, sessionId, tokenSha256 } = await fixture().signIn();
    const lastSeenAt = async () =>
      timestampMs((await fixture().client.listSessions({ accountId })).sessions[0]!.lastSeenAt!);
    await age(sessionId, 'last_seen_at', 90_000);
    const before = await lastSeenAt();
    await show(tokenSha256, true);
    await delay(250);
    expect(await lastSeenAt()).toBe(before);
    await show(tokenSha256);
    await expect.poll(lastSeenAt).toBeGreaterThan(before + 60_000);
    const noted = await lastSeenAt();
    await show(tokenSha256);
    await delay(250);
    expect(await lastSeenAt()).toBe(noted);
  });
});

describe('a session in the database', () => {
  const fixture = () => accountsFixture(harness.transports.inProcess);

  it('is read with its memberships in one statement', async () => {
    const ana = await fixture().join(newTenant(), Role.VIEWER);
    statements = [];
    const { memberships } = await fixture().client.authenticateSession({ tokenSha256: ana.tokenSha256 });
    expect(memberships).toHaveLength(1);
    expect(statements).toHaveLength(1);
  });

  it('is started once by concurrent identical calls', async () => {
    const request = signInRequest();
    const started = await Promise.all(
      Array.from({ length: 8 }, () => fixture().client.startSession(request)),
    );
    expect(new Set(started.map(({ session }) => session!.id)).size).toBe(1);
    expect(new Set(started.map(({ account }) => account!.id)).size).toBe(1);
  });
});
