import type { Client } from '@connectrpc/connect';
import { SpanKind } from '@opentelemetry/api';
import type { Logger } from 'pino';
import {
  type WorkflowCommand,
  WorkflowCommandKind,
  type WorkflowCommandService,
} from '../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { environmentName } from '../../services/platform/tenant.ts';
import { traceFor } from '../../services/platform/tracing/tracing.ts';
import { backOff } from '../retrying.ts';
import { startedBy } from '../temporal/outbox-start.ts';
import { searchAttributesOf } from '../temporal/search-attributes.ts';
import { causedBy } from '../temporal/workflow-cause.ts';
import type { StartOptions, WorkflowClient } from '../temporal/workflow-client.ts';
import { subjectOf } from '../temporal/workflow-subject.ts';
import { countCommandErrors } from './relay-metrics.ts';

export interface CommandRelayDeps {
  readonly commands: Client<typeof WorkflowCommandService>;
  readonly temporal: WorkflowClient;
  readonly startSettings: StartSettingsByType;
  readonly logger: Logger;
}

/** The relay while it runs. */
export interface CommandRelay {
  /** Claims no more commands; resolves when those claimed have been executed. */
  stop(): Promise<void>;
}

/** Few, so that a burst of a thousand commands leaves Temporal capacity for deliveries. */
const COMMANDS_PER_CLAIM = 10;
/** How long a claim waits for commands, and so how long stopping may take, since it does not cancel a claim. */
const CLAIM_WAIT_MS = 2_000;
const CLAIM_TIMEOUT_MS = 7_000;
const CONFIRM_TIMEOUT_MS = 5_000;

/**
 * Forwards workflow commands from the outbox to Temporal until it is stopped, but only while Temporal responds. Commands
 * that could not be handed over are claimed again once their lease has expired.
 */
export function startCommandRelay(deps: CommandRelayDeps): CommandRelay {
  const stopping = new AbortController();
  const running = relayUntil(stopping.signal, deps);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function relayUntil(signal: AbortSignal, deps: CommandRelayDeps): Promise<void> {
  const { temporal, logger } = deps;
  let failures = 0;
  let temporalResponds = false;
  while (!signal.aborted) {
    try {
      if (!temporalResponds) await temporal.ping();
      temporalResponds = await relayCommands(deps);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      temporalResponds = false;
      countCommandErrors('CLAIM');
      if (failures === 0) logger.warn({ err: error }, 'the relay of workflow commands is interrupted');
      await backOff(failures, signal);
      failures += 1;
    }
  }
}

/** Claims workflow commands, executes them and confirms them. @returns whether there were any, all executed. */
async function relayCommands(deps: CommandRelayDeps): Promise<boolean> {
  const { commands } = await deps.commands.claimCommands(
    { waitMs: CLAIM_WAIT_MS, maxCommands: COMMANDS_PER_CLAIM },
    { timeoutMs: CLAIM_TIMEOUT_MS },
  );
  // Commands to one workflow keep their order; a refused one does not delay other workflows.
  const sequences = [...Map.groupBy(commands, ({ workflowId }) => workflowId).values()];
  const executed = await Promise.all(sequences.map((sequence) => executeInOrder(deps, sequence)));
  const commandIds = executed.flat();
  if (commandIds.length > 0)
    await deps.commands.confirmCommands({ commandIds }, { timeoutMs: CONFIRM_TIMEOUT_MS });
  return commands.length > 0 && commandIds.length === commands.length;
}

/** @returns the commands that Temporal has accepted. A refused one and those after it are claimed again later. */
async function executeInOrder(
  { temporal, startSettings, logger }: CommandRelayDeps,
  sequence: readonly WorkflowCommand[],
): Promise<string[]> {
  const executed: string[] = [];
  for (const command of sequence) {
    try {
      await traceFor(command.requestId, tracedCommand(command), () =>
        executeCommand(temporal, startSettings, command),
      );
    } catch (error) {
      countCommandErrors('HAND_OVER');
      logger.error({ err: error, ...logFieldsOf(command) }, 'Temporal did not accept a workflow command');
      return executed;
    }
    executed.push(command.id);
  }
  return executed;
}

const tracedCommand = ({ kind, workflowId, workflowType, merchantId }: WorkflowCommand) => ({
  name: `outbox ${WorkflowCommandKind[kind]} ${workflowType}`.trimEnd(),
  kind: SpanKind.CONSUMER,
  attributes: { 'temporal.workflow.id': workflowId, 'payments.merchant_id': merchantId },
});

const logFieldsOf = (command: WorkflowCommand) => ({
  commandId: command.id,
  kind: WorkflowCommandKind[command.kind],
  workflowId: command.workflowId,
  workflowType: command.workflowType || undefined,
  requestId: command.requestId,
  merchantId: command.merchantId,
  ...subjectOf(command.workflowId),
});

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
      return signalWithStart
        ? temporal.signalWithStart(workflowType, options, id)
        : temporal.start(workflowType, options);
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
