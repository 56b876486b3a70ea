import {
  type NotifyContactInput,
  workflowId,
  workflowType,
} from '../../../workflows/accounts/notify-contact.contract.ts';
import type { Tenant } from '../../platform/tenant.ts';

/** The command that has the merchant's contact told of a subscription that a 410 has disabled. */
export function goneNotice(tenant: Tenant, subscriptionId: string) {
  const kind = 'WEBHOOK_GONE';
  const input: NotifyContactInput = { ...tenant, kind, subjectId: subscriptionId };
  return {
    ...{ kind: 'START' as const, workflowType, arguments: [input] },
    workflowId: workflowId(kind, subscriptionId),
  };
}

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
