import type { Transport } from '@connectrpc/connect';
import { asyncLocalStorage } from '@temporalio/activity';
import { REQUEST_ID_HEADER, WORKFLOW_HEADER } from '../services/platform/rpc/call-context.ts';
import { isRequestId } from '../services/platform/rpc/request-id.ts';
import { causeOfActivity } from './temporal/activity-cause.ts';

/** The deadline of a call without one of its own: no longer than the shortest timeout of an activity. */
const DEADLINE_MS = 10_000;

/**
 * A transport whose calls have a deadline, and name the workflow that makes them, so that the audit trail records who
 * started it, and the request that caused the workflow.
 */
export function workflowTransport(transport: Transport): Transport {
  return {
    ...transport,
    unary: (method, signal, timeoutMs = DEADLINE_MS, header, input, values) => {
      const workflowId = asyncLocalStorage.getStore()?.info.workflowExecution?.workflowId;
      if (workflowId === undefined) return transport.unary(method, signal, timeoutMs, header, input, values);
      const headers = new Headers(header);
      headers.set(WORKFLOW_HEADER, workflowId);
      const { requestId } = causeOfActivity() ?? {};
      if (requestId && isRequestId(requestId)) headers.set(REQUEST_ID_HEADER, requestId);
      return transport.unary(method, signal, timeoutMs, headers, input, values);
    },
  };
}
