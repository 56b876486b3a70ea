import type { HandlerContext } from '@connectrpc/connect';
import type { RevokeServiceTokenRequest } from '../../../proto/gen/payments/servicetokens/v1/servicetokens_pb.js';
import type { CrossTenantDatabase, Statement } from '../database/cross-tenant-database.ts';
import { callerNameOf } from '../rpc/call-context.ts';
import { serviceTokenNotFound } from './service-token.queries.ts';

const REVOKE: Statement = {
  name: 'revoke_service_token',
  text: `
update platform.service_token
   set revoked_at = coalesce(revoked_at, :now), revoked_by = coalesce(revoked_by, :revokedBy)
 where id = :id
returning id`,
};

/** Revokes a token permanently. One that is already revoked keeps its time of revocation. SERVICE_TOKEN_NOT_FOUND. */
export async function revokeServiceToken(
  db: CrossTenantDatabase,
  { serviceTokenId: id }: RevokeServiceTokenRequest,
  context: HandlerContext,
): Promise<void> {
  const revoked = await db.run(REVOKE, { id, now: new Date(), revokedBy: callerNameOf(context) });
  if (revoked.length === 0) throw serviceTokenNotFound();
}
