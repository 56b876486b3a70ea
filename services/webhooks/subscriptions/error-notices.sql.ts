import * as notifyContact from '../../contracts/accounts/notify-contact.contract.ts';
import { insertCommandsOf } from '../../platform/outbox/outbox-commands.ts';

/**
 * The final part of a statement, which notifies the contacts of subscriptions that have entered ERROR.
 * @param changed the name of a `with` query that returns merchant_id, environment, id, state, `was` (the previous state)
 * and request_id (the request that caused the change) of subscriptions.
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
