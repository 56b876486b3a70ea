import type { HandlerContext } from '@connectrpc/connect';
import type {
  SetMerchantNameRequest,
  SetMerchantNameResponseSchema,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Writes } from '../../platform/writes/writes.ts';

const PUT_NAME = `
insert into accounts.merchant (merchant_id, name) values (:merchantId, :name)
on conflict (merchant_id) do update set name = excluded.name`;

/** Sets the name of a merchant for both environments, or removes it when none is given. */
export function setMerchantName(writes: Writes, request: SetMerchantNameRequest, context: HandlerContext) {
  return writes.runForMerchant<typeof SetMerchantNameResponseSchema>(request, context, async (tx) => {
    const name = request.name?.trim();
    if (name !== undefined) await tx.executeForMerchant(PUT_NAME, { name });
    else await tx.executeForMerchant('delete from accounts.merchant where merchant_id = :merchantId');
    return {};
  });
}
