import {
  type GetMerchantContactRequest,
  type GetMerchantContactResponse,
  Language,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { selectAdminEmails, selectContact } from './contact.queries.ts';

const MOST_EMAILS = 20;

/** Whom to write to: the contact, else the administrators. */
export async function getMerchantContact(
  database: Database,
  request: GetMerchantContactRequest,
): Promise<GetMerchantContactResponse> {
  const tenant = tenantOf(request);
  const [contact] = await database.read(selectContact(tenant));
  if (contact) {
    return answer({ emails: [contact.email], language: Language[contact.language], isSet: true });
  }
  const { merchantId } = tenant;
  const admins = await database.read(selectAdminEmails({ merchantId, limit: MOST_EMAILS }));
  return answer({ emails: admins.map(({ email }) => email), language: Language.PT_BR, isSet: false });
}

const answer = (contact: Omit<GetMerchantContactResponse, '$typeName'>): GetMerchantContactResponse => ({
  $typeName: 'payments.accounts.v1.GetMerchantContactResponse',
  ...contact,
});
