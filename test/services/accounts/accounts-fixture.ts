import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createClient, type Transport } from '@connectrpc/connect';
import { AccountService, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { ACTOR_HEADERS } from '../../../services/platform/rpc/call-context.ts';
import { newWrite } from '../../support/harness.ts';

type Tenant = Readonly<{ merchantId: string; environment: Environment }>;

const sha256 = (token: string) => createHash('sha256').update(token).digest();
const newToken = () => randomBytes(32).toString('base64url');

/** The hash of a new session token. */
export const newTokenSha256 = () => sha256(newToken());

/** The claims of a new person with a verified address. */
export const newPerson = () => {
  const subject: string = randomUUID();
  return {
    issuer: 'https://id.example',
    subject,
    email: `${subject}@shop.example`,
    emailVerified: true,
    name: 'Ana Souza',
  };
};

/** A request to sign a person in with a new browser. */
export const signInRequest = (person = newPerson()) => ({
  ...person,
  tokenSha256: newTokenSha256(),
  ipAddress: '203.0.113.7',
  userAgent: 'Browser/1.0',
});

/** The address that people call from. */
export const PERSON_ADDRESS = '2001:db8::7';

/** The calls of a dashboard and an internal team about accounts. */
export function accountsFixture(transport: Transport) {
  const client = createClient(AccountService, transport);
  const write = (tenant: Tenant) => newWrite(tenant);
  const signIn = async (person = newPerson()) => {
    const token = newToken();
    const request = { ...signInRequest(person), tokenSha256: sha256(token) };
    const { account, session } = await client.startSession(request);
    const headers = { [ACTOR_HEADERS.sessionToken]: token, [ACTOR_HEADERS.ipAddress]: PERSON_ADDRESS };
    return { ...request, token, headers, accountId: account!.id, sessionId: session!.id };
  };
  const invite = async (tenant: Tenant, email: string, role = Role.VIEWER) =>
    (await client.inviteMember({ ...write(tenant), email, role })).invitation!;
  const accept = async (tenant: Tenant, invitationId: string, accountId: string) =>
    (await client.acceptInvitation({ ...write(tenant), invitationId, accountId })).membership!;
  const remove = (tenant: Tenant, accountId: string) => client.removeMember({ ...write(tenant), accountId });
  const change = (tenant: Tenant, accountId: string, role: Role) =>
    client.changeMemberRole({ ...write(tenant), accountId, role });
  /** Signs a person in, invites them and accepts the invitation. */
  const join = async (tenant: Tenant, role: Role, person = newPerson()) => {
    const signedIn = await signIn(person);
    const { id } = await invite(tenant, person.email, role);
    await accept(tenant, id, signedIn.accountId);
    return signedIn;
  };
  return { client, write, signIn, invite, accept, remove, change, join };
}

/**
 * Whether a pick of the list suite removes a row: never in the lists that it fills, which use multiples of eleven.
 */
export const isRemoved = (pick: number) => pick % 11 > 7;
