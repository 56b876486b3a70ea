import type { Client } from '@connectrpc/connect';
import type { WorkflowCommandService } from '../../proto/gen/payments/outbox/v1/outbox_pb.js';

export type CommandActivities = ReturnType<typeof createCommandActivities>;

/** The activity that every workflow of a START command ends with. */
export function createCommandActivities(commands: Client<typeof WorkflowCommandService>) {
  return {
    /** Call this when the workflow has completed its work: its START commands are not sent again. */
    async endStarts(commandIds: readonly string[]): Promise<void> {
      await commands.endStarts({ commandIds: [...commandIds] });
    },
  };
}
