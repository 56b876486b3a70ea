import { Code } from '@connectrpc/connect';
import {
  type Client,
  isGrpcServiceError,
  WorkflowNotFoundError,
  type WorkflowStartOptions,
} from '@temporalio/client';
import {
  type Batch,
  type RetryStart,
  type WorkflowCommand,
  WorkflowCommandKind,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import * as deliverBatch from '../../services/contracts/webhooks/deliver-batch.contract.ts';
import {
  type RetryDeliveryInput,
  workflowType as retryDelivery,
} from '../../services/contracts/webhooks/retry-delivery.contract.ts';
import { environmentName } from '../../services/platform/tenant.ts';
import { retrying } from '../retrying.ts';
import { SIGNAL_WITH_START, STARTED_AGAIN_SIGNAL } from '../signal-with-start.ts';
import { searchAttributesOf } from '../temporal/search-attributes.ts';
import { TASK_QUEUE } from '../temporal/task-queue.ts';
import { retryDeliveryStart } from '../webhooks/retry-delivery.start.ts';

type Options = Omit<WorkflowStartOptions, 'taskQueue'>;

const CALL_TIMEOUT_MS = 5_000;
/** Less than the lease of a command, the shortest of all. */
const PATIENCE_MS = 25_000;

/** A larger batch is found by its environment only: search attributes have room for about 2 KiB. */
const MOST_NAMED = 40;

/** Of what the server says, `exceeded workflow execution limit for signal events`. */
const SIGNAL_LIMIT = 'limit for signal';

/**
 * Starts and tells workflows. Each call may be repeated with the same effect: an id that runs is left to run, one
 * that is closed may run again. While Temporal is away it tries for 25 s, and then throws the client's error.
 */
export class WorkflowStarter {
  readonly #client: Client;
  readonly #signal: AbortSignal;

  /** @param client over the worker's own connection, so that a first task comes with the answer (eager start). */
  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** Throws when Temporal does not answer. */
  async ping(): Promise<void> {
    await this.#inTime(() => this.#client.workflowService.getSystemInfo({}));
  }

  /**
   * @param haveBegun whether attempts of it have begun in this process.
   * @returns whether its first task came with the answer, so that it runs in this process.
   */
  async startBatch(batch: Batch, haveBegun: boolean): Promise<boolean> {
    const { id, deliveryIds, merchantIds, subscriptionIds, requestIds, eventType } = batch;
    const input: deliverBatch.DeliverBatchInput = { batchId: id, deliveryIds, haveBegun };
    const environment = environmentName(batch.environment);
    const named = deliveryIds.length <= MOST_NAMED && { merchantIds, subscriptionIds, requestIds, eventType };
    const started = await this.#startUnlessRunning(deliverBatch.workflowType, {
      workflowId: deliverBatch.workflowId(id),
      args: [input],
      staticSummary: `${deliveryIds.length} deliveries`,
      typedSearchAttributes: searchAttributesOf({ environment, ...named }),
    });
    return started.eagerlyStarted;
  }

  async startRetry(retry: RetryStart): Promise<void> {
    await this.#start(retryDelivery, retryDeliveryStart(retryDeliveryInput(retry)));
  }

  /** A signal or cancellation of a workflow that is not there, or no more, is done. */
  async carryOut(command: WorkflowCommand): Promise<void> {
    const { kind, workflowId } = command;
    const args: unknown[] = JSON.parse(command.argumentsJson || '[]');
    switch (kind) {
      case WorkflowCommandKind.START:
        return this.#start(command.workflowType, startOf(command, args));
      case WorkflowCommandKind.SIGNAL:
        return this.#persist(() =>
          unlessGone(this.#client.workflow.getHandle(workflowId).signal(command.signalName, ...args)),
        );
      case WorkflowCommandKind.CANCEL:
        return this.#persist(() => unlessGone(this.#cancel(command)));
      case WorkflowCommandKind.UNSPECIFIED:
        throw new TypeError(`workflow command ${command.id} has no kind`);
      default:
        return kind satisfies never;
    }
  }

  async #start(workflowType: string, options: Options): Promise<void> {
    if (SIGNAL_WITH_START.has(workflowType)) await this.#signalWithStart(workflowType, options);
    else await this.#startUnlessRunning(workflowType, options);
  }

  #startUnlessRunning(workflowType: string, options: Options) {
    return this.#persist(() =>
      this.#client.workflow.start(workflowType, {
        ...options,
        taskQueue: TASK_QUEUE,
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        requestEagerStart: true,
      }),
    );
  }

  #signalWithStart(workflowType: string, options: Options) {
    return this.#persist(() =>
      this.#client.workflow
        .signalWithStart(workflowType, {
          ...options,
          taskQueue: TASK_QUEUE,
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          signal: STARTED_AGAIN_SIGNAL,
        })
        .catch(unlessToldEnough),
    );
  }

  /** The handle's own cancel() takes no reason. */
  #cancel({ id, workflowId, requestId }: WorkflowCommand): Promise<unknown> {
    return this.#client.workflowService.requestCancelWorkflowExecution({
      namespace: this.#client.options.namespace,
      workflowExecution: { workflowId },
      requestId: id,
      reason: `asked for by request ${requestId}`,
    });
  }

  #persist<T>(call: () => Promise<T>): Promise<T> {
    return retrying(() => this.#inTime(call), {
      forMs: PATIENCE_MS,
      codeOf: grpcCodeOf,
      signal: this.#signal,
    });
  }

  #inTime<T>(call: () => Promise<T>): Promise<T> {
    return this.#client.connection.withDeadline(Date.now() + CALL_TIMEOUT_MS, call);
  }
}

/** A retry as the service hands it out, in the form of its workflow. */
const retryDeliveryInput = (retry: RetryStart): RetryDeliveryInput => ({
  deliveryId: retry.deliveryId,
  merchantId: retry.merchantId,
  environment: environmentName(retry.environment),
  subscriptionId: retry.subscriptionId,
  requestId: retry.requestId,
  eventType: retry.eventType,
});

/** A retry workflow is started as by its batch. */
function startOf({ workflowType, workflowId, ...command }: WorkflowCommand, args: unknown[]) {
  if (workflowType === retryDelivery)
    return { ...retryDeliveryStart(args[0] as RetryDeliveryInput), workflowId };
  return {
    workflowId,
    args,
    staticSummary: `asked for by request ${command.requestId}`,
    typedSearchAttributes: searchAttributesOf({
      environment: environmentName(command.environment),
      merchantIds: [command.merchantId],
      requestIds: [command.requestId],
    }),
  };
}

async function unlessGone(call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    const isGone = error instanceof WorkflowNotFoundError || grpcCodeOf(error) === Code.NotFound;
    if (!isGone) throw error;
  });
}

/** A run that takes no more signals has had thousands of them: it looks again anyway. */
function unlessToldEnough(error: unknown): void {
  const said = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  if (!said.includes(SIGNAL_LIMIT)) throw error;
}

/** The client wraps some errors once. */
function grpcCodeOf(error: unknown): Code | undefined {
  if (isGrpcServiceError(error)) return error.code as number;
  return error instanceof Error && isGrpcServiceError(error.cause) ? (error.cause.code as number) : undefined;
}
