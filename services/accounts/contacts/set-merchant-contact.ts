import type { HandlerContext } from '@connectrpc/connect';
import {
  Language,
  type SetMerchantContactRequest,
  type SetMerchantContactResponseSchema,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { enumName } from '../../platform/enum-name.ts';
import type { Writes } from '../../platform/writes/writes.ts';

const PUT_CONTACT = `
insert into accounts.merchant_contact (merchant_id, environment, email, language)
values (:merchantId, :environment, :email, :language)
on conflict (merchant_id, environment) do update set email = excluded.email, language = excluded.language`;

const DELETE_CONTACT = `
delete from accounts.merchant_contact where merchant_id = :merchantId and environment = :environment`;

/** Sets the contact, or removes it when no email address is given. */
export function setMerchantContact(
  writes: Writes,
  request: SetMerchantContactRequest,
  context: HandlerContext,
) {
  return writes.run<typeof SetMerchantContactResponseSchema>(request, context, async (tx) => {
    const { email, language } = request;
    if (email === undefined) await tx.execute(DELETE_CONTACT);
    else await tx.execute(PUT_CONTACT, { email, language: enumName(Language, language) });
    return {};
  });
}
