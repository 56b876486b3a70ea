import * as notifyContact from '../../contracts/accounts/notify-contact.contract.ts';
import { insertCommandsOf } from '../../platform/outbox/outbox.ts';

/**
 * The end of a statement that notifies contacts of subscriptions that have entered ERROR.
 * @param changed a part of its `with` clause, with a subscription's merchant_id, environment, id, state, `was`, the
 * state before, and request_id, of the request that brought it there.
 */
export const insertErrorNotices = (changed: string): string => {
  const notice = { merchantId: '', environment: 'live', kind: 'WEBHOOK_ERROR', subjectId: '' } as const;
  return insertCommandsOf(
    notifyContact.startCommand(notice),
    `${changed} where state = 'ERROR' and was <> 'ERROR'`,
    `jsonb_build_array(jsonb_build_object(
       'merchantId', merchant_id, 'environment', environment, 'kind', '${notice.kind}', 'subjectId', id))`,
  );
};
