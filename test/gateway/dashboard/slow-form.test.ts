import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createClient } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { csrfTokenOf } from '../../../gateway/dashboard/session/session-cookie.ts';
import { AccountService, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { newKey, newWrite } from '../../support/harness.ts';
import { sqlOf } from '../../support/sql.ts';
import { sharedDashboard, type Visitor } from './dashboard-fixture.ts';

const fixture = await sharedDashboard();

const accounts = () => createClient(AccountService, fixture.transport);

/** Starts to send a form that invites another administrator, and completes it after `meanwhile`. */
async function inviteSlowly(
  visitor: Visitor,
  merchantId: string,
  meanwhile: () => Promise<unknown>,
): Promise<IncomingMessage> {
  const form = { _csrf: csrfTokenOf(visitor.token), _key: newKey(), email: 'me@too.example', role: 'admin' };
  const text = new URLSearchParams(form).toString();
  // The session was not used for a while, so that its use is recorded.
  await touch(visitor, `now() - interval '10 minutes'`);
  const sent = request(`${fixture.baseUrl}/live/${merchantId}/members/invite`, {
    method: 'POST',
    headers: {
      cookie: `__Host-session=${visitor.token}`,
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': text.length,
    },
  });
  sent.write(text.slice(0, 10));
  await expect.poll(() => wasSeen(visitor)).toBe(true);
  await meanwhile();
  sent.end(text.slice(10));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  return answer;
}

const touch = ({ accountId }: Visitor, at: string) =>
  sqlOf(fixture.harness, `update accounts.session set last_seen_at = ${at} where account_id = $1`, [
    accountId,
  ]);

async function wasSeen({ accountId }: Visitor): Promise<boolean> {
  const seen = await sqlOf(
    fixture.harness,
    `select from accounts.session where account_id = $1 and last_seen_at > now() - interval '1 minute'`,
    [accountId],
  );
  return seen.length > 0;
}

async function shop() {
  const tenant = { merchantId: randomUUID(), environment: Environment.LIVE };
  await fixture.signIn({ [tenant.merchantId]: Role.ADMIN });
  const visitor = await fixture.signIn({ [tenant.merchantId]: Role.ADMIN });
  const write = () => ({ ...newWrite(tenant), accountId: visitor.accountId });
  const invited = async () => (await accounts().listInvitations(tenant)).invitations.length;
  return { ...tenant, visitor, write, invited };
}

test('a form whose body arrives slowly takes effect', async () => {
  const { merchantId, visitor, invited } = await shop();
  expect((await inviteSlowly(visitor, merchantId, async () => undefined)).statusCode).toBe(303);
  expect(await invited()).toBe(1);
});

const ENDINGS = {
  'is removed': ({ write }) => accounts().removeMember(write()),
  'gets another role': ({ write }) => accounts().changeMemberRole({ ...write(), role: Role.DEVELOPER }),
  'is signed out': ({ visitor: { accountId } }) => accounts().endAllSessions({ accountId }),
} as const satisfies Record<string, (of: Awaited<ReturnType<typeof shop>>) => Promise<unknown>>;

test.each(Object.entries(ENDINGS))(
  'a form has no effect if the person %s while its body arrives',
  async (_, end) => {
    const shopped = await shop();
    const { merchantId, visitor, invited } = shopped;
    const answer = await inviteSlowly(visitor, merchantId, () => end(shopped));
    const members = encodeURIComponent(`/live/${merchantId}/members`);
    expect(answer.headers.location).toBe(`/sign-in?return=${members}&unsent=1`);
    expect(await invited()).toBe(0);
  },
);
