import type { HandlerContext } from '@connectrpc/connect';
import {
  MailTopic,
  type SetMailPreferencesRequest,
  type SetMailPreferencesResponse,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { executeNamed } from '../../platform/database/named-sql.ts';
import { enumName } from '../../platform/enum-name.ts';
import { notFound } from '../../platform/errors.ts';
import { recordSessionAudit } from '../audit/record-session-audit.ts';

/** Sets which mails an account does not want. Repeating has no effect. NOT_FOUND (ACCOUNT_NOT_FOUND). */
export async function setMailPreferences(
  database: Database,
  request: SetMailPreferencesRequest,
  context: HandlerContext,
): Promise<SetMailPreferencesResponse> {
  const { accountId } = request;
  const unwanted = request.unwanted.map((topic) => enumName(MailTopic, topic));
  await database.transaction(async (em) => {
    // Locked, so that two choices at once do not add up.
    const known = await executeNamed(
      em,
      'select from accounts.account where id = :accountId for no key update',
      { accountId },
    );
    if (known.length === 0) throw notFound('ACCOUNT_NOT_FOUND', 'the account does not exist');
    await executeNamed(
      em,
      `delete from accounts.unwanted_mail
        where account_id = :accountId and topic <> all (:unwanted::text[])`,
      { accountId, unwanted },
    );
    await executeNamed(
      em,
      `insert into accounts.unwanted_mail (account_id, topic)
       select :accountId::uuid, unnest(:unwanted::text[]) on conflict do nothing`,
      { accountId, unwanted },
    );
    await recordSessionAudit(em, { accountId, request, context });
  });
  return { $typeName: 'payments.accounts.v1.SetMailPreferencesResponse' };
}
