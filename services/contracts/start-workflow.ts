import type { StartWorkflow } from '../platform/outbox/workflow-command.ts';

/** The outbox command that starts a workflow with one input. */
export const startWorkflow = (workflowType: string, workflowId: string, input: object): StartWorkflow => ({
  kind: 'START',
  workflowId,
  workflowType,
  arguments: [input],
});
