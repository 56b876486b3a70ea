import type { HandlerContext } from '@connectrpc/connect';
import {
  MailTopic,
  type SetMailPreferencesRequest,
  type SetMailPreferencesResponse,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { executeNamed } from '../../platform/database/named-sql.ts';
import { enumName } from '../../platform/enum-name.ts';
import { recordSessionAudit } from '../audit/record-session-audit.ts';

/** Sets which mails an account does not want. Repeating has no effect. */
export async function setMailPreferences(
  database: Database,
  request: SetMailPreferencesRequest,
  context: HandlerContext,
): Promise<SetMailPreferencesResponse> {
  const { accountId } = request;
  const unwanted = JSON.stringify(request.unwanted.map((topic) => enumName(MailTopic, topic)));
  await database.transaction(async (em) => {
    await executeNamed(
      em,
      `delete from accounts.unwanted_mail
        where account_id = :accountId and topic not in (select json_array_elements_text(:unwanted::json))`,
      { accountId, unwanted },
    );
    await executeNamed(
      em,
      `insert into accounts.unwanted_mail (account_id, topic)
       select :accountId::uuid, json_array_elements_text(:unwanted::json) on conflict do nothing`,
      { accountId, unwanted },
    );
    await recordSessionAudit(em, accountId, request, context);
  });
  return { $typeName: 'payments.accounts.v1.SetMailPreferencesResponse' };
}
