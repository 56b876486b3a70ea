import type {
  EndSessionRequest,
  EndSessionResponse,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { executeNamed } from '../../platform/database/named-sql.ts';

/** Ends sessions at `:now`. Lowers expires_at too, because expired sessions are deleted by it. */
export const END_SESSION =
  'update accounts.session set ended_at = :now, expires_at = least(expires_at, :now)';

/** Ends a session of an account. Has no effect when it has ended or does not exist. */
export async function endSession(
  database: Database,
  { accountId, sessionId }: EndSessionRequest,
): Promise<EndSessionResponse> {
  const now = new Date();
  await database.transaction((em) =>
    executeNamed(
      em,
      `${END_SESSION} where account_id = :accountId and id = :sessionId and ended_at is null`,
      {
        now,
        accountId,
        sessionId,
      },
    ),
  );
  return { $typeName: 'payments.accounts.v1.EndSessionResponse' };
}
