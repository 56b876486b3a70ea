import * as notifyContact from '../../contracts/accounts/notify-contact.contract.ts';
import { insertCommandsOf } from '../../platform/outbox/outbox-commands.ts';

/**
 * The final part of a statement, which notifies the contacts of subscriptions that have entered ERROR.
 * @param changed the name of a `with` query that returns merchant_id, environment, id, state, `was` (the previous state)
 * and request_id (the request that caused the change) of subscriptions.
 */
export const insertErrorNotices = (changed: string): string => {
  const { command, argumentsSql } = notifyContact.noticeOfEachRow('WEBHOOK_ERROR');
  return insertCommandsOf(command, `${changed} where state = 'ERROR' and was <> 'ERROR'`, argumentsSql);
};
