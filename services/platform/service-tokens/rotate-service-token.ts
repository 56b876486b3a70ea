import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import type { RotateServiceTokenRequest } from '../../../proto/gen/payments/servicetokens/v1/servicetokens_pb.js';
import { rotatedExpiry } from '../credential-lifetime.ts';
import type { CrossTenantDatabase, Run, Statement } from '../database/cross-tenant-database.ts';
import { failedPrecondition } from '../errors.ts';
import { callerNameOf } from '../rpc/call-context.ts';
import { later } from '../timestamps.ts';
import { addServiceToken, findServiceToken } from './add-service-token.ts';
import { serviceTokenNotFound } from './service-token.queries.ts';

/** The columns of a token that rotating it reads. */
interface LockedToken {
  readonly name: string;
  readonly grants: string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

const LOCK: Statement = {
  name: 'lock_service_token',
  text: `
select name, grants, created_at as "createdAt", expires_at as "expiresAt", revoked_at as "revokedAt"
  from platform.service_token where id = :id for update`,
};

const EXPIRE: Statement = {
  name: 'expire_service_token',
  text: 'update platform.service_token set expires_at = :expiresAt where id = :id',
};

/**
 * Issues a successor to a token, which stays valid for the overlap; returns the successor's id. SERVICE_TOKEN_NOT_FOUND,
 * SERVICE_TOKEN_STATE, EXPIRES_AT_IN_PAST, SERVICE_TOKEN_USED.
 */
export function rotateServiceToken(
  db: CrossTenantDatabase,
  request: RotateServiceTokenRequest,
  context: HandlerContext,
): Promise<string> {
  const { serviceTokenId: id, tokenSha256, overlapSeconds, expiresAt } = request;
  return db.transaction(async (run) => {
    const rotated = await lockServiceToken(run, id);
    // Another process, whose clock is ahead, may have issued the token.
    const now = later(rotated.createdAt, new Date());
    const successor = {
      name: rotated.name,
      grants: rotated.grants,
      tokenSha256,
      createdBy: callerNameOf(context),
      now,
      expiresAt: expiresAt && timestampDate(expiresAt),
      rotatedFrom: id,
    };
    const repeated = await findServiceToken(run, successor);
    if (repeated !== undefined) return repeated;
    const end = rotatedExpiry(rotated, { now, overlapSeconds }, (state) =>
      failedPrecondition('SERVICE_TOKEN_STATE', `the service token is ${state}`, { state }),
    );
    await run(EXPIRE, { id, expiresAt: end });
    return addServiceToken(run, successor);
  });
}

async function lockServiceToken(run: Run, id: string): Promise<LockedToken> {
  const [token] = await run<LockedToken>(LOCK, { id });
  if (token) return token;
  throw serviceTokenNotFound();
}
