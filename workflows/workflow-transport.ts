import type { Transport } from '@connectrpc/connect';
import { asyncLocalStorage } from '@temporalio/activity';
import { WORKFLOW_HEADER } from '../services/platform/rpc/call-context.ts';

/** A transport whose calls name the workflow that makes them: the audit trail records who started it. */
export function workflowTransport(transport: Transport): Transport {
  return {
    ...transport,
    unary: (method, signal, timeoutMs, header, input, values) => {
      const workflowId = asyncLocalStorage.getStore()?.info.workflowExecution?.workflowId;
      if (workflowId === undefined) return transport.unary(method, signal, timeoutMs, header, input, values);
      const headers = new Headers(header);
      headers.set(WORKFLOW_HEADER, workflowId);
      return transport.unary(method, signal, timeoutMs, headers, input, values);
    },
  };
}
