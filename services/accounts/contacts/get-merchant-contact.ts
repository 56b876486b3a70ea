import {
  type GetMerchantContactRequest,
  type GetMerchantContactResponse,
  Language,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { recipientsOf } from '../mail/mail.queries.ts';
import { selectMerchantName } from '../merchants/merchant.queries.ts';
import { selectContact } from './contact.queries.ts';

const MAX_EMAILS = 20;

/**
 * The recipients of mail about a merchant's webhooks: the contact, or else the administrators and developers who have not
 * opted out.
 */
export async function getMerchantContact(
  database: Database,
  request: GetMerchantContactRequest,
): Promise<GetMerchantContactResponse> {
  const tenant = tenantOf(request);
  const { merchantId } = tenant;
  const [[contact], [merchant]] = await Promise.all([
    database.read(selectContact(tenant)),
    database.read(selectMerchantName({ merchantId })),
  ]);
  const merchantName = merchant?.name ?? '';
  if (contact) {
    return response({
      emails: [contact.email],
      language: Language[contact.language],
      isSet: true,
      merchantName,
    });
  }
  const managers = await database.read(
    recipientsOf({ merchantId, topic: 'WEBHOOK_PROBLEMS', limit: MAX_EMAILS }),
  );
  const emails = managers.map(({ email }) => email);
  return response({ emails, language: Language.PT_BR, isSet: false, merchantName });
}

const response = (contact: Omit<GetMerchantContactResponse, '$typeName'>): GetMerchantContactResponse => ({
  $typeName: 'payments.accounts.v1.GetMerchantContactResponse',
  ...contact,
});
