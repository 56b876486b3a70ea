import { type WorkflowCommand, WorkflowCommandKind } from '../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { environmentName } from '../../services/platform/tenant.ts';
import { startedBy } from '../temporal/outbox-start.ts';
import { searchAttributesOf } from '../temporal/search-attributes.ts';
import { causedBy } from '../temporal/workflow-cause.ts';
import type { StartOptions, WorkflowClient } from '../temporal/workflow-client.ts';

/** How a command starts workflows of one type, where it differs from the defaults. */
export interface StartSettings {
  /** Search attributes and summary, made from the workflow's arguments. */
  readonly describe?: (
    args: readonly unknown[],
  ) => Pick<StartOptions, 'staticSummary' | 'typedSearchAttributes'>;
  /** Whether a running workflow is signaled that it was started again. */
  readonly signalWithStart?: boolean;
}

/** By workflow type. Types that are not listed are started with the defaults. */
export type StartSettingsByType = Readonly<Record<string, StartSettings>>;

/** Executes one command in Temporal. Idempotent. Throws when Temporal refuses it or is unavailable. */
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
