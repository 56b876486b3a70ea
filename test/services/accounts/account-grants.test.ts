import { create, type DescMethodUnary } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AccountService } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { ALL_GRANTS, startHarness, type TestHarness } from '../../support/harness.ts';

let harness: TestHarness;
beforeAll(async () => {
  harness = await startHarness({ SERVICES: 'accounts' });
});
afterAll(() => harness.close());

const GRANTS: Readonly<Record<string, readonly string[]>> = {
  sessions: [
    ...['StartSession', 'AuthenticateSession', 'EndSession', 'EndAllSessions', 'ListSessions'],
    'ListAccountInvitations',
  ],
  'accounts:read': ['ListInvitations', 'ListMembers', 'GetMerchantContact', 'ListAuditEntries'],
  'accounts:write': [
    ...['InviteMember', 'RevokeInvitation', 'AcceptInvitation', 'ChangeMemberRole', 'RemoveMember'],
    'SetMerchantContact',
  ],
};

const rows = Object.entries(GRANTS).flatMap(([grant, rpcs]) => rpcs.map((rpc) => [rpc, grant] as const));

test.each(rows)('%s requires the grant %s and no other', async (rpc, grant) => {
  const method = AccountService.methods.find(({ name }) => name === rpc) as DescMethodUnary;
  const callWith = (grants: readonly string[]) =>
    harness.services
      .transportFor({ name: 'test', grants: new Set(grants) })
      .unary(method, undefined, undefined, undefined, create(method.input));
  const others = ALL_GRANTS.filter((other) => other !== grant);
  await expectRefusal(callWith(others), Code.PermissionDenied, 'GRANT_MISSING', { grant });
  await expectRefusal(callWith([grant]), Code.InvalidArgument, 'INVALID_ARGUMENT');
});

test('every RPC of accounts has a known grant', () => {
  expect(rows.map(([rpc]) => rpc).sort()).toEqual(AccountService.methods.map(({ name }) => name).sort());
});
