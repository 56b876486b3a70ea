import { type WorkflowCommand, WorkflowCommandKind } from '../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { environmentName } from '../../services/platform/tenant.ts';
import { startedBy } from '../temporal/outbox-start.ts';
import { searchAttributesOf } from '../temporal/search-attributes.ts';
import { causedBy } from '../temporal/workflow-cause.ts';
import type { StartOptions, WorkflowClient } from '../temporal/workflow-client.ts';

/** How workflows of one type differ from others when a command starts them. */
export interface StartSettings {
  /** Search attributes and summary, made from the workflow's arguments. */
  readonly describe?: (
    args: readonly unknown[],
  ) => Pick<StartOptions, 'staticSummary' | 'typedSearchAttributes'>;
  /** A workflow that runs already is signaled that it has been started again. */
  readonly signalWithStart?: boolean;
}

/** By workflow type; a type that is not listed is started by the defaults. */
export type StartSettingsByType = Readonly<Record<string, StartSettings>>;

/** Executes one command in Temporal. Repeating it has the same effect. Throws when Temporal refuses or is away. */
export async function executeCommand(
  temporal: WorkflowClient,
  startSettings: StartSettingsByType,
  command: WorkflowCommand,
): Promise<void> {
  const { kind, id, workflowId, workflowType, signalName, requestId } = command;
  const args: unknown[] = JSON.parse(command.argumentsJson || '[]');
  switch (kind) {
    case WorkflowCommandKind.START: {
      const { describe, signalWithStart } = startSettings[workflowType] ?? {};
      const options = {
        workflowId,
        args,
        memo: { ...startedBy(id), ...causedBy(causeOf(command)) },
        ...(describe?.(args) ?? describeByRequest(command)),
      };
      await (signalWithStart
        ? temporal.signalWithStart(workflowType, options, id)
        : temporal.start(workflowType, options));
      return;
    }
    case WorkflowCommandKind.SIGNAL:
      return temporal.signal(workflowId, signalName, args);
    case WorkflowCommandKind.CANCEL:
      return temporal.cancel(workflowId, { id, reason: reasonOf(requestId) });
    case WorkflowCommandKind.UNSPECIFIED:
      throw new TypeError(`workflow command ${id} has no kind`);
    default:
      return kind satisfies never;
  }
}

const reasonOf = (requestId: string) => `caused by request ${requestId}`;

/** The request that caused a command, and whose data it is about. */
const causeOf = ({ requestId, merchantId, environment }: WorkflowCommand) => ({
  requestId,
  merchantId,
  environment: environmentName(environment),
});

const describeByRequest = ({ merchantId, environment, requestId }: WorkflowCommand) => ({
  staticSummary: reasonOf(requestId),
  typedSearchAttributes: searchAttributesOf({
    environment: environmentName(environment),
    merchantIds: [merchantId],
    requestIds: [requestId],
  }),
});
