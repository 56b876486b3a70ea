import {
  type ListMailRecipientsRequest,
  type ListMailRecipientsResponse,
  MailTopic,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { enumName } from '../../platform/enum-name.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { recipientsOf } from './mail.queries.ts';

const MAX_EMAILS = 100;

/** The verified addresses of the members who may act on a topic and have not opted out. */
export async function listMailRecipients(
  database: Database,
  request: ListMailRecipientsRequest,
): Promise<ListMailRecipientsResponse> {
  const { merchantId } = tenantOf(request);
  const topic = enumName(MailTopic, request.topic);
  const read = recipientsOf({ merchantId, topic, limit: MAX_EMAILS });
  return {
    $typeName: 'payments.accounts.v1.ListMailRecipientsResponse',
    emails: (await database.read(read)).map(({ email }) => email),
  };
}
