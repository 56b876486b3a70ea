import {
  type GetMailPreferencesRequest,
  type GetMailPreferencesResponse,
  MailTopic,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { selectUnwantedMail } from './mail.queries.ts';

/** Which mails an account does not want, in the order of the enum. */
export async function getMailPreferences(
  database: Database,
  { accountId }: GetMailPreferencesRequest,
): Promise<GetMailPreferencesResponse> {
  const rows = await database.read(selectUnwantedMail({ accountId }));
  return {
    $typeName: 'payments.accounts.v1.GetMailPreferencesResponse',
    unwanted: rows.map(({ topic }) => MailTopic[topic]).sort(),
  };
}
