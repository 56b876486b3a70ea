import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { AccountService, Language, Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { newWrite } from '../../../support/harness.ts';
import { sqlOf } from '../../../support/sql.ts';
import { sharedDashboard, type Visitor } from '../dashboard-fixture.ts';

const fixture = await sharedDashboard();

const accounts = () => createClient(AccountService, fixture.transport);
const live = (merchantId: string) => ({ merchantId, environment: Environment.LIVE });
const roleOf = async (merchantId: string, accountId: string) => {
  const { members } = await accounts().listMembers(live(merchantId));
  return members.find(({ account }) => account!.id === accountId)?.role;
};
const openInvitations = async (merchantId: string) =>
  (await accounts().listInvitations(live(merchantId))).invitations;

const HOSTILE = '"><img src=x onerror=alert(1)></script>';

async function newMerchant() {
  const merchant = randomUUID();
  const admin = await fixture.signIn({ [merchant]: Role.ADMIN });
  return { merchant, admin, path: `/live/${merchant}/members` };
}

/** Whether their next request leads to sign-in, and from there back to the page. */
const hasToSignIn = async (visitor: Visitor, path: string) =>
  (await visitor.fetch(path)).headers.get('location') ===
  `/sign-in?return=${encodeURIComponent(path)}&ended=1`;

test('a member gets another role, and has to sign in again', async () => {
  const { merchant, admin, path } = await newMerchant();
  const developer = await fixture.signIn({ [merchant]: Role.DEVELOPER });
  expect((await developer.get(path)).status).toBe(403);
  const raised = await admin.submit(path, `${developer.accountId}/role`, { role: 'admin' });
  expect(raised.path).toBe(`${path}?notice=role`);
  expect(await hasToSignIn(developer, path)).toBe(true);
  expect(await roleOf(merchant, developer.accountId)).toBe(Role.ADMIN);
});

test('a member whose role is saved unchanged stays signed in, and the notice says nothing else', async () => {
  const { merchant, admin, path } = await newMerchant();
  const developer = await fixture.signIn({ [merchant]: Role.DEVELOPER });
  const saved = await admin.submit(path, `${developer.accountId}/role`, { role: 'developer' });
  const notice = saved.document.querySelector('[role="status"]')?.text;
  expect(notice).toBe('Role saved. If it changed, the person’s sessions have ended.');
  expect(await hasToSignIn(developer, path)).toBe(false);
});

test('a removed member has to sign in again', async () => {
  const { merchant, admin, path } = await newMerchant();
  const viewer = await fixture.signIn({ [merchant]: Role.ADMIN });
  expect((await viewer.get(path)).status).toBe(200);
  const removed = await admin.submit(path, `${viewer.accountId}/remove`);
  expect(removed.path).toBe(`${path}?notice=removed`);
  expect(await hasToSignIn(viewer, path)).toBe(true);
  expect(await roleOf(merchant, viewer.accountId)).toBeUndefined();
});

test('an administrator’s open stream ends when they are removed or demoted', async () => {
  for (const verb of ['role', 'remove']) {
    const { merchant, admin, path } = await newMerchant();
    const other = await fixture.signIn({ [merchant]: Role.ADMIN });
    const stream = await other.fetch(`/live/${merchant}/audit`, { headers: acceptStream(other.token) });
    expect(stream.status).toBe(200);
    const reader = stream.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('entries');
    await admin.submit(path, `${other.accountId}/${verb}`, { role: 'viewer' });
    let rest = '';
    for (let part = await reader.read(); !part.done; part = await reader.read())
      rest += new TextDecoder().decode(part.value);
    expect(rest).not.toContain(verb === 'role' ? 'ChangeMemberRole' : 'RemoveMember');
  }
});

const acceptStream = (token: string) => ({
  accept: 'text/event-stream',
  cookie: `__Host-session=${token}; language=en`,
});

test('the last administrator keeps their role, with an explanation', async () => {
  const { merchant, admin, path } = await newMerchant();
  const refused = await admin.submit(path, `${admin.accountId}/role`, { role: 'viewer' });
  expect(refused.status).toBe(409);
  expect(refused.document.querySelector('[role="alert"]')?.text).toContain('only administrator');
  expect(refused.document.querySelector('h1')?.text).toBe('Team');
  expect(await roleOf(merchant, admin.accountId)).toBe(Role.ADMIN);
});

test('administrators who lower their own role are redirected to a page they may see, which says so', async () => {
  const { merchant, admin, path } = await newMerchant();
  await fixture.signIn({ [merchant]: Role.ADMIN });
  const page = await admin.submit(path, `${admin.accountId}/role`, { role: 'developer' });
  expect(page.path).toBe(`/live/${merchant}?notice=role`);
  expect(page.document.querySelector('#notice')?.text).toContain('Your role is now Developer.');
  expect(await roleOf(merchant, admin.accountId)).toBe(Role.DEVELOPER);
});

test('an address is invited in the language of the page, and the invitation can be revoked', async () => {
  const { merchant, admin, path } = await newMerchant();
  const invited = await admin.submit(path, '/invite', { email: ' Bia@Shop.example ', role: 'developer' });
  expect(invited.path).toBe(`${path}?notice=invited`);
  const [invitation] = await openInvitations(merchant);
  expect(invitation).toMatchObject({ email: 'bia@shop.example', role: Role.DEVELOPER });
  const revoked = await admin.submit(invited, `${invitation!.id}/revoke`);
  expect(revoked.path).toBe(`${path}?notice=revoked`);
  expect(await openInvitations(merchant)).toEqual([]);
});

test('an expired invitation stays on the page, from where the address can be invited again or removed', async () => {
  const { merchant, admin, path } = await newMerchant();
  await admin.submit(path, '/invite', { email: 'bia@shop.example', role: 'finance' });
  const expire = 'update accounts.invitation set expires_at = now() where merchant_id = $1';
  await sqlOf(fixture.harness, expire, [merchant]);
  const expired = await admin.get(path);
  expect(expired.document.querySelector('td .badge.busy')?.text).toBe('expired');
  const again = await admin.submit(`${path}/invitations`, '/invite');
  expect(again.path).toBe(`${path}?notice=invited`);
  expect(await openInvitations(merchant)).toMatchObject([{ email: 'bia@shop.example', role: Role.FINANCE }]);
  expect(again.document.querySelectorAll('form[action$="/revoke"]')).toHaveLength(1);
  await sqlOf(fixture.harness, expire, [merchant]);
  const removed = await admin.submit(path, '/revoke');
  expect(removed.text).toContain('No pending invitations');
});

test('an invitation form that was sent is not sent again with another address, and the page says why', async () => {
  const { merchant, admin, path } = await newMerchant();
  const opened = await admin.get(path);
  const invite = (email: string) => admin.submit(opened, '/invite', { email, role: 'viewer' });
  expect((await invite('bia@shop.example')).path).toBe(`${path}?notice=invited`);
  const edited = await invite('caio@shop.example');
  expect([edited.status, edited.text]).toEqual([409, expect.stringContaining('This form has expired')]);
  expect(await openInvitations(merchant)).toHaveLength(1);
});

test('a rejected invitation form is shown again as it was entered, with the reason at its field', async () => {
  const { merchant, admin, path } = await newMerchant();
  const { members } = await accounts().listMembers(live(merchant));
  const wrong = [
    { email: members[0]!.account!.email, said: 'already a member with this email' },
    { email: 'no address', said: 'complete email address' },
    { email: HOSTILE, said: 'complete email address' },
  ];
  for (const { email, said } of wrong) {
    const page = await admin.submit(path, '/invite', { email, role: 'admin' });
    expect(page.status).toBe(422);
    expect(page.text).not.toContain('<img');
    const input = page.document.querySelector('#email')!;
    expect(input.getAttribute('aria-invalid')).toBe('true');
    expect(input.getAttribute('value')).toBe(email);
    expect(page.document.querySelector('#email-fault')?.text).toContain(said);
    expect(page.document.querySelector('#role option[selected]')?.getAttribute('value')).toBe('admin');
    const again = await admin.submit(page, '/invite', { email: `${randomUUID()}@shop.example` });
    expect(again.path).toBe(`${path}?notice=invited`);
  }
});

test('many invitations are paginated separately', async () => {
  const { merchant, admin, path } = await newMerchant();
  const invite = (email: string) =>
    accounts().inviteMember({ ...newWrite(live(merchant)), email, role: Role.VIEWER });
  for (let count = 0; count < 51; count++) await invite(`person-${count}@shop.example`);
  const page = await admin.get(path);
  expect(page.document.querySelectorAll('form[action$="/revoke"]')).toHaveLength(10);
  const all = await admin.get(`${path}/invitations`);
  expect(page.document.querySelector(`a[href="${all.path}"]`)).not.toBeNull();
  expect(all.document.querySelectorAll('form[action$="/revoke"]')).toHaveLength(50);
  const next = await admin.get(all.document.querySelector('a[rel="next"]')!.getAttribute('href')!);
  expect(next.document.querySelectorAll('form[action$="/revoke"]')).toHaveLength(1);
});

test('many members are paginated', async () => {
  const { merchant, admin, path } = await newMerchant();
  for (let count = 0; count < 25; count++) await fixture.signIn({ [merchant]: Role.VIEWER });
  const page = await admin.get(path);
  expect(page.document.querySelectorAll('.role-of')).toHaveLength(25);
  const next = await admin.get(page.document.querySelector('a[rel="next"]')!.getAttribute('href')!);
  expect(next.document.querySelectorAll('.role-of')).toHaveLength(1);
});

test('each environment has its own contact; an empty address removes it', async () => {
  const { merchant, admin, path } = await newMerchant();
  const contactIn = (environment: Environment) =>
    accounts().getMerchantContact({ merchantId: merchant, environment });
  expect((await admin.get(path)).text).toContain('we email the administrators');
  const saved = await admin.submit(path, '/contact', { contact: 'ops@shop.example', language: 'en' });
  expect(saved.path).toBe(`${path}?notice=contact`);
  expect(saved.document.querySelector('#contact')?.getAttribute('value')).toBe('ops@shop.example');
  const english = { emails: ['ops@shop.example'], language: Language.EN, isSet: true };
  expect(await contactIn(Environment.LIVE)).toMatchObject(english);
  expect(await contactIn(Environment.TEST)).toMatchObject({ isSet: false });
  const refused = await admin.submit(path, '/contact', { contact: 'ops@', language: 'en' });
  expect(refused.status).toBe(422);
  expect(refused.document.querySelector('#contact-fault')?.text).toContain('complete email address');
  expect(refused.document.querySelector('#email')?.hasAttribute('aria-invalid')).toBe(false);
  await admin.submit(path, '/contact', { contact: '' });
  expect(await contactIn(Environment.LIVE)).toMatchObject({ isSet: false });
});
