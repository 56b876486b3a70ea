import {
  type GetMerchantContactRequest,
  type GetMerchantContactResponse,
  Language,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { selectAdminEmails, selectContact } from './contact.queries.ts';

const MAX_EMAILS = 20;

/** The recipients of mail to a merchant: the contact, or else the administrators. */
export async function getMerchantContact(
  database: Database,
  request: GetMerchantContactRequest,
): Promise<GetMerchantContactResponse> {
  const tenant = tenantOf(request);
  const [contact] = await database.read(selectContact(tenant));
  if (contact) {
    return response({ emails: [contact.email], language: Language[contact.language], isSet: true });
  }
  const { merchantId } = tenant;
  const admins = await database.read(selectAdminEmails({ merchantId, limit: MAX_EMAILS }));
  return response({ emails: admins.map(({ email }) => email), language: Language.PT_BR, isSet: false });
}

const response = (contact: Omit<GetMerchantContactResponse, '$typeName'>): GetMerchantContactResponse => ({
  $typeName: 'payments.accounts.v1.GetMerchantContactResponse',
  ...contact,
});
