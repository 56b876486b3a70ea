import { workflowId, workflowType } from '../../contracts/accounts/notify-contact.contract.ts';

/**
 * The end of a statement that has contacts told of subscriptions that have come into ERROR.
 * @param changed a part of its `with` clause, with a subscription's merchant_id, environment, id, state, `was`, the
 * state before, and request_id, of the request that brought it there.
 */
export const insertErrorNotices = (changed: string): string => `
insert into platform.outbox_command
  (merchant_id, environment, id, kind, workflow_id, workflow_type, arguments, request_id)
select merchant_id, environment, uuidv7(), 'START', '${workflowId('WEBHOOK_ERROR', '')}' || id, '${workflowType}',
       jsonb_build_array(jsonb_build_object(
         'merchantId', merchant_id, 'environment', environment, 'kind', 'WEBHOOK_ERROR', 'subjectId', id)),
       request_id
  from ${changed} where state = 'ERROR' and was <> 'ERROR'`;
