import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { AccountService, MailTopic, Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { newWrite } from '../../../support/harness.ts';
import { sharedDashboard, type Visitor } from '../dashboard-fixture.ts';
import { ask, send } from './ask.ts';

/** The forms that concern only the signed-in person, outside merchants' pages. */

const fixture = await sharedDashboard();
const accounts = createClient(AccountService, fixture.transport);
const sessionsOf = async ({ accountId }: Visitor) => (await accounts.listSessions({ accountId })).sessions;

const merchant = randomUUID();
const email = `${randomUUID()}@people.example`;
await fixture.signIn({ [merchant]: Role.ADMIN });
const other = await fixture.signIn({ [merchant]: Role.ADMIN });
const visitor = await fixture.signIn({ [merchant]: Role.VIEWER }, email);
const inviting = { merchantId: randomUUID(), environment: Environment.LIVE };
const { invitation } = await accounts.inviteMember({ ...newWrite(inviting), email, role: Role.VIEWER });
const [session] = await sessionsOf(visitor);
const paths = [
  `/account/sessions/${session!.id}/end`,
  '/account/sign-out-everywhere',
  '/sign-out',
  `/merchants/${merchant}/leave`,
  `/invitations/${inviting.merchantId}/${invitation!.id}/accept`,
  '/account/mail',
];

/** Everything that these forms could change. */
const stateOf = async () => ({
  sessions: (await sessionsOf(visitor)).map(({ id }) => id),
  members: (await accounts.listMembers({ merchantId: merchant, environment: Environment.LIVE })).members.map(
    ({ account, role }) => [account!.id, role],
  ),
  unwantedMail: (await accounts.getMailPreferences({ accountId: visitor.accountId })).unwanted,
  invitations: (await accounts.listAccountInvitations({ accountId: visitor.accountId })).invitations,
});

/** The routes that accept POST, from Fastify's printed route tree. */
function postedRoutes(tree: string): string[] {
  const parts: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const [, indent, part, methods] = /^([│ ]*)[├└]── (\S+)(?: \((.*)\))?$/.exec(line) ?? [];
    if (indent === undefined || part === undefined) return [];
    parts.splice(indent.length / 4, parts.length, part);
    return methods?.includes('POST') ? [parts.join('')] : [];
  });
}

test('all forms of the signed-in person are tested here', () => {
  const own = postedRoutes(fixture.app.printRoutes({ commonPrefix: false })).filter(
    (path) => !path.startsWith('/:environment'),
  );
  const shape = (path: string) => path.replaceAll(/:[a-zA-Z]+|[0-9a-f-]{36}/g, '*');
  expect(own.map(shape).sort()).toEqual(paths.map(shape).sort());
});

test('a form of the signed-in person requires the session’s token, this site as origin, and a form body', async () => {
  const before = await stateOf();
  const proof = visitor.proof();
  for (const path of paths) {
    const wrong = [{ ...proof, _csrf: '' }, { ...proof, _csrf: other.proof()._csrf }, { _key: proof._key }];
    for (const fields of wrong) expect((await send(visitor, path, fields)).status, path).toBe(403);
    for (const site of ['cross-site', 'same-site', 'none']) {
      expect((await send(visitor, path, proof, { 'sec-fetch-site': site })).status, path).toBe(403);
    }
    for (const type of ['application/json', 'text/plain']) {
      const init = { method: 'POST', body: JSON.stringify(proof), headers: { 'content-type': type } };
      expect((await ask(visitor, path, init)).status, `${path} ${type}`).toBe(400);
    }
    expect([303, 404]).toContain((await ask(visitor, `${path}?${new URLSearchParams(proof)}`)).status);
  }
  expect(await stateOf()).toEqual(before);
  expect(before.invitations).toHaveLength(1);
});

test('people choose which mails they get, for themselves alone', async () => {
  const choose = (wanted: readonly string[]) => visitor.submit('/account', '/account/mail', { wanted });
  const chosen = await choose(['DISPUTE_DEADLINES']);
  const ticked = chosen.document.querySelectorAll('input[name=wanted][checked]');
  expect(ticked.map((box) => box.getAttribute('value'))).toEqual(['DISPUTE_DEADLINES']);
  const { REFUND_DEADLINES, WEBHOOK_PROBLEMS, DEBTS, ADVANCES, API_KEYS } = MailTopic;
  const unticked = [REFUND_DEADLINES, WEBHOOK_PROBLEMS, DEBTS, ADVANCES, API_KEYS];
  expect((await stateOf()).unwantedMail).toEqual(unticked);
  expect((await accounts.getMailPreferences({ accountId: other.accountId })).unwanted).toEqual([]);
  await choose([]);
  expect((await stateOf()).unwantedMail).toHaveLength(6);
  const all = ['REFUND_DEADLINES', 'DISPUTE_DEADLINES', 'WEBHOOK_PROBLEMS', 'DEBTS', 'ADVANCES', 'API_KEYS'];
  await choose(all);
  expect((await stateOf()).unwantedMail).toEqual([]);
});

test('people cannot end sessions, leave merchants or accept invitations of others', async () => {
  const before = await stateOf();
  const [end, , , , accept] = paths;
  expect([303, 404]).toContain((await send(other, end!, other.proof())).status);
  expect((await send(other, accept!, other.proof())).status).toBe(404);
  const named = { ...other.proof(), accountId: visitor.accountId, account_id: visitor.accountId };
  await send(other, paths[3]!, named);
  const after = await stateOf();
  expect(after.sessions).toEqual(before.sessions);
  expect(after.invitations).toEqual(before.invitations);
  expect(after.members).toEqual(before.members.filter(([id]) => id !== other.accountId));
});

test.for([
  ['/account', '/sign-in?return=%2Faccount&unsent=1'],
  ['//evil.example/', '/sign-in?return=%2F&unsent=1'],
])('without a session, a form on %s leads to sign-in and back to the page', async ([page, location]) => {
  const answer = await fetch(`${fixture.baseUrl}/account/mail`, {
    method: 'POST',
    redirect: 'manual',
    headers: { referer: `${fixture.baseUrl}${page}` },
    body: new URLSearchParams(),
  });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, location]);
});
