import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import type { IssueServiceTokenRequest } from '../../../proto/gen/payments/servicetokens/v1/servicetokens_pb.js';
import type { CrossTenantDatabase } from '../database/cross-tenant-database.ts';
import type { FieldFault } from '../errors.ts';
import { invalidFields } from '../request-faults.ts';
import { callerNameOf } from '../rpc/call-context.ts';
import { isGrant } from '../rpc/grants.ts';
import { addServiceToken } from './add-service-token.ts';

/** Issues a token for a caller; returns its id. UNKNOWN_GRANT, EXPIRES_AT_IN_PAST, SERVICE_TOKEN_USED. */
export function issueServiceToken(
  db: CrossTenantDatabase,
  { name, grants, tokenSha256, expiresAt }: IssueServiceTokenRequest,
  context: HandlerContext,
): Promise<string> {
  const [unknown, ...others] = grants.filter((grant) => !isGrant(grant));
  if (unknown !== undefined) {
    throw invalidFields([unknownGrant(unknown), ...others.map(unknownGrant)], { grant: unknown });
  }
  const token = {
    name,
    grants,
    tokenSha256,
    createdBy: callerNameOf(context),
    now: new Date(),
    expiresAt: expiresAt && timestampDate(expiresAt),
    rotatedFrom: undefined,
  };
  return db.transaction((run) => addServiceToken(run, token));
}

const unknownGrant = (grant: string): FieldFault => ({
  field: 'grants',
  must: `${JSON.stringify(grant)} is not a grant`,
  reason: 'UNKNOWN_GRANT',
});
