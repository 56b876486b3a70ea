import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createClient, type Transport } from '@connectrpc/connect';
import { AccountService } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import type { DemoPerson } from '../../oidc/demo-people.ts';

/**
 * Adds people to the demo merchants before their first sign-in: invites each one and accepts the invitation in a
 * session that it ends at once. Skips existing members, so an interrupted run can be repeated.
 */
export async function addDemoMembers(
  transport: Transport,
  issuer: string,
  people: readonly DemoPerson[],
  merchantIds: readonly string[],
): Promise<void> {
  const accounts = createClient(AccountService, transport);
  for (const { subject, email, name, role } of people) {
    const tokenSha256 = Uint8Array.from(createHash('sha256').update(randomBytes(32)).digest());
    const { account, session } = await accounts.startSession({
      issuer,
      subject,
      email,
      emailVerified: true,
      name,
      tokenSha256,
      ipAddress: '127.0.0.1',
      userAgent: 'npm start',
    });
    const accountId = account!.id;
    const { memberships } = await accounts.authenticateSession({ tokenSha256 });
    for (const merchantId of merchantIds) {
      if (memberships.some((membership) => membership.merchantId === merchantId)) continue;
      const write = () => ({ merchantId, environment: Environment.LIVE, idempotencyKey: randomUUID() });
      const { invitation } = await accounts.inviteMember({ ...write(), email, role });
      await accounts.acceptInvitation({ ...write(), invitationId: invitation!.id, accountId });
    }
    await accounts.endSession({ accountId, sessionId: session!.id });
  }
}
