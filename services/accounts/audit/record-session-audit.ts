import type { Message } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import type { EntityManager } from '@mikro-orm/postgresql';
import { executeNamed } from '../../platform/database/named-sql.ts';
import { ENVIRONMENTS } from '../../platform/tenant.ts';
import { type AuditRow, auditRow, recordAudit } from '../../platform/writes/audit.ts';

interface SessionCall {
  readonly accountId: string;
  readonly request: Message;
  readonly context: HandlerContext;
  /** Override those of the call. */
  readonly fields?: Partial<AuditRow>;
}

/**
 * Records the start or end of sessions in the audit trail of each merchant that the account is a member of: in
 * both environments, because sessions belong to neither.
 */
export async function recordSessionAudit(
  em: EntityManager,
  { accountId, request, context, fields }: SessionCall,
): Promise<void> {
  const merchants = await executeNamed<{ merchant_id: string }>(
    em,
    'select merchant_id from accounts.member where account_id = :accountId order by merchant_id',
    { accountId },
  );
  const rows = merchants.flatMap(({ merchant_id: merchantId }) =>
    ENVIRONMENTS.map((environment) => ({
      ...auditRow({ merchantId, environment }, request, context),
      ...fields,
    })),
  );
  await recordAudit(em, rows);
}
