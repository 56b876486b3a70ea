import { randomBytes, randomUUID } from 'node:crypto';
import { create, type DescMethod, type DescMethodStreaming, type DescMethodUnary } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { createAsyncIterable } from '@connectrpc/connect/protocol';
import { afterAll, describe, expect, test } from 'vitest';
import { GATEWAY_CALLER } from '../../../../gateway/clients.ts';
import { DASHBOARD_CALLER } from '../../../../gateway/dashboard/dashboard-caller.ts';
import { declaredServices } from '../../../../local/grants-table.ts';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { RefundCaseService } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { isAtLeast } from '../../../../services/platform/people/role.ts';
import { ACTOR_HEADERS, type Caller } from '../../../../services/platform/rpc/call-context.ts';
import { errorInfoOf } from '../../../../services/platform/rpc/connect-errors.ts';
import { requiredGrant } from '../../../../services/platform/rpc/grants.ts';
import { personRule } from '../../../../services/platform/rpc/person-rules.ts';
import { newTenant, startHarness } from '../../../support/harness.ts';
import { sqlOf } from '../../../support/sql.ts';
import { accountsFixture } from '../../accounts/accounts-fixture.ts';

/** How each RPC responds to people, by the table of roles, and to our own processes. */

type Headers = Readonly<Record<string, string>>;
type Refusal = readonly [reason: string | undefined, code: Code] | 'allowed';

const ROLES = [Role.VIEWER, Role.FINANCE, Role.DEVELOPER, Role.ADMIN] as const;
/** A person who is signed in but not a member. */
const STRANGER = Role.UNSPECIFIED;
const tenant = newTenant();
const people = new Map<Role, { readonly headers: Headers; readonly accountId: string }>();

const harness = await startHarness();
const accounts = accountsFixture(harness.transports.inProcess);
for (const role of ROLES) people.set(role, await accounts.join(tenant, role));
people.set(STRANGER, await accounts.signIn());
afterAll(() => harness.close());

/** What the handlers of streams, which check people themselves, need before they do. The others get a tenant alone. */
const STREAM_FIELDS = {
  refundCaseId: randomUUID(),
  evidenceId: randomUUID(),
  idempotencyKey: 'probe',
  fileName: 'probe',
  date: '2026-11-21',
};

/** Makes a call and reads the whole response. */
async function callAs(caller: Caller, method: DescMethod, headers: Headers, environment: Environment) {
  const transport = harness.services.transportFor(caller);
  const { merchantId } = tenant;
  if (method.methodKind === 'unary') {
    const request = create(method.input, { merchantId, environment });
    await transport.unary(method as DescMethodUnary, undefined, undefined, headers, request);
    return;
  }
  const cancel = new AbortController();
  const request = create(method.input, { merchantId, environment, ...STREAM_FIELDS });
  const stream = method as DescMethodStreaming;
  const answer = await transport.stream(
    stream,
    cancel.signal,
    undefined,
    headers,
    createAsyncIterable([request]),
  );
  // A feed has no end.
  for await (const _ of answer.message) break;
  cancel.abort();
}

async function refusalOf(call: Promise<void>): Promise<Refusal> {
  try {
    await call;
    return 'allowed';
  } catch (error) {
    const { code } = ConnectError.from(error);
    if (code === Code.PermissionDenied || code === Code.Unauthenticated) {
      return [errorInfoOf(error)?.reason, code];
    }
    // The handler runs, and finds nothing or misses a field.
    if ([Code.InvalidArgument, Code.NotFound, Code.FailedPrecondition].includes(code)) return 'allowed';
    throw error;
  }
}

/** Calls with only the grant to act for people, like a dashboard without other grants. */
const answerTo = (
  method: DescMethod,
  headers: Headers,
  environment: Environment,
  grants: readonly string[] = ['on-behalf-of'],
) => refusalOf(callAs({ name: 'dashboard', grants: new Set(grants) }, method, headers, environment));

const headersOf = (role: Role) => people.get(role)!.headers;

const declaredMethods = async () => (await declaredServices()).flatMap(({ methods }) => methods);

test('every RPC that people may call checks their session, role and environment', async () => {
  const allowed = (await declaredMethods()).filter(personRule);
  expect(allowed.length).toBeGreaterThan(40);
  for (const method of allowed) {
    const { role: needed = Role.UNSPECIFIED, environment: only, ownAccount } = personRule(method)!;
    for (const role of [STRANGER, ...ROLES]) {
      for (const environment of [Environment.LIVE, Environment.TEST]) {
        const answer = await answerTo(method, headersOf(role), environment);
        const isElsewhere = only === 'test' && environment === Environment.LIVE;
        const expected: Refusal =
          ownAccount === 'ONLY'
            ? ['OTHER_ACCOUNT', Code.PermissionDenied]
            : isElsewhere
              ? ['SANDBOX_ONLY', Code.PermissionDenied]
              : !isAtLeast(role, needed)
                ? ['ROLE_MISSING', Code.PermissionDenied]
                : 'allowed';
        expect(answer, `${method.name} as ${Role[role]} in ${Environment[environment]}`).toEqual(expected);
      }
    }
    const unknown = { [ACTOR_HEADERS.sessionToken]: randomBytes(32).toString('base64url') };
    const invalid = ['SESSION_INVALID', Code.Unauthenticated];
    expect(await answerTo(method, unknown, Environment.TEST), method.name).toEqual(invalid);
    // Without a session the dashboard may write nothing, and with one only if it may act for people.
    const missing = ['GRANT_MISSING', Code.PermissionDenied];
    expect(await answerTo(method, {}, Environment.TEST), method.name).toEqual(missing);
    expect(await answerTo(method, headersOf(Role.ADMIN), Environment.TEST, []), method.name).toEqual(missing);
  }
});

const isRead = ({ idempotency }: DescMethod) =>
  idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;

test('writes that are not in the table refuse every person', async () => {
  let refused = 0;
  for (const method of await declaredMethods()) {
    if (isRead(method) || personRule(method)) continue;
    const answer = await answerTo(method, headersOf(Role.ADMIN), Environment.TEST);
    expect(answer, method.name).toEqual(['SERVICE_CALL_ONLY', Code.PermissionDenied]);
    refused += 1;
  }
  expect(refused).toBeGreaterThan(20);
});

/** What our own processes may call without a session, beside the reads that they hold a grant for. */
const OWN_CALLS: readonly { readonly caller: Caller; readonly allowed: readonly string[] }[] = [
  {
    caller: GATEWAY_CALLER,
    allowed: [
      'ApiKeyService.AuthenticateApiKey',
      'WebhookListenerService.FollowEvents',
      'WebhookListenerService.OpenListener',
      'WebhookListenerService.ReportListenerDelivery',
      'WebhookListenerService.ResendToListeners',
      'WebhookListenerService.TriggerEvent',
      'WebhookSubscriptionService.CreateWebhookSubscription',
      'WebhookSubscriptionService.DeleteWebhookSubscription',
      'WebhookSubscriptionService.DisableWebhookSubscription',
      'WebhookSubscriptionService.ReactivateWebhookSubscription',
      'WebhookSubscriptionService.RotateSigningSecret',
      'WebhookSubscriptionService.SendTestEvent',
      'WebhookSubscriptionService.UpdateWebhookSubscription',
    ],
  },
  {
    caller: DASHBOARD_CALLER,
    allowed: [
      'AccountService.AuthenticateSession',
      'AccountService.EndAllSessions',
      'AccountService.EndSession',
      'AccountService.ListAccountInvitations',
      'AccountService.ListSessions',
      'AccountService.StartSession',
    ],
  },
];

test.each(OWN_CALLS)('the $caller.name can do no more than it should', async ({ caller, allowed }) => {
  const possible: string[] = [];
  for (const method of await declaredMethods()) {
    const grant = requiredGrant(method)!;
    if (grant.endsWith(':read') && caller.grants.has(grant)) continue;
    const answer = await refusalOf(callAs(caller, method, {}, Environment.TEST));
    if (answer === 'allowed') possible.push(`${method.parent.name}.${method.name}`);
    else expect(answer, method.name).toEqual(['GRANT_MISSING', Code.PermissionDenied]);
  }
  expect(possible.sort()).toEqual(allowed);
});

describe('a person', () => {
  const fixture = () => accountsFixture(harness.transports.inProcess);
  const join = (role: Role) => fixture().join(tenant, role);

  test('may leave a merchant in any role, but may not remove other members', async () => {
    const { client, write } = fixture();
    const { headers, accountId } = await join(Role.VIEWER);
    const other = { ...write(tenant), accountId: people.get(Role.VIEWER)!.accountId };
    await expect(client.removeMember(other, { headers })).rejects.toMatchObject({
      code: Code.PermissionDenied,
    });
    await client.removeMember({ ...write(tenant), accountId: accountId.toUpperCase() }, { headers });
    const again = client.removeMember({ ...write(tenant), accountId }, { headers });
    await expect(again).rejects.toMatchObject({ code: Code.NotFound });
  });

  test('accepts invitations and ends sessions for their own account only', async () => {
    const { client, write, signIn, invite } = fixture();
    const [ana, bia] = [await signIn(), await signIn()];
    const { id: invitationId } = await invite(tenant, ana.email);
    const accept = (accountId: string, { headers }: { headers: Headers }) =>
      client.acceptInvitation({ ...write(tenant), invitationId, accountId }, { headers });
    await expect(accept(ana.accountId, bia)).rejects.toMatchObject({ code: Code.PermissionDenied });
    await accept(ana.accountId, ana);
    const end = client.endSession(ana, { headers: bia.headers });
    await expect(end).rejects.toMatchObject({ code: Code.PermissionDenied });
    await client.endSession(ana, { headers: ana.headers });
    const ended = client.endSession(ana, { headers: ana.headers });
    await expect(ended).rejects.toMatchObject({ code: Code.Unauthenticated });
  });

  test.each(['last_seen_at', 'expires_at'])(
    'writes nothing with a session that expired by its %s',
    async (column) => {
      const { headers, accountId } = await join(Role.ADMIN);
      await sqlOf(
        harness,
        `update platform.session set ${column} = now() - interval '2 hours' where account_id = $1`,
        [accountId],
      );
      const expired = ['SESSION_EXPIRED', Code.Unauthenticated];
      expect(await answerTo(RefundCaseService.method.decideRefundCase, headers, Environment.TEST)).toEqual(
        expired,
      );
    },
  );
});
