import { Code } from '@connectrpc/connect';
import {
  type Client,
  isGrpcServiceError,
  WorkflowNotFoundError,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { COMMAND_LEASE_MS } from '../../services/platform/outbox/workflow-command.ts';
import { retrying } from '../retrying.ts';
import { STARTED_AGAIN_SIGNAL } from './outbox-start.ts';
import { TASK_QUEUE } from './task-queue.ts';

/** How a workflow is started, apart from its type. */
export type StartOptions = Pick<
  WorkflowStartOptions,
  'workflowId' | 'args' | 'memo' | 'staticSummary' | 'typedSearchAttributes'
>;

/** Identifies a cancellation, and says in the workflow's history who requested it. */
interface CancelRequest {
  /** A UUID; Temporal ignores a second request with the same id. */
  readonly id: string;
  readonly reason: string;
}

const CALL_TIMEOUT_MS = 5_000;
/** A call ends before the lease of a workflow command does, the shortest of all leases. */
const RETRY_FOR_MS = COMMAND_LEASE_MS - CALL_TIMEOUT_MS;

/** Part of the server's error `exceeded workflow execution limit for signal events`. */
const SIGNAL_LIMIT = 'limit for signal';

/**
 * Starts, signals and cancels workflows. Calls are idempotent: a running workflow is not started a second time, but a
 * closed one may run again. While Temporal is unavailable, a call is retried for 25 s, and then throws the client's
 * error.
 */
export class WorkflowClient {
  readonly #client: Client;
  readonly #signal: AbortSignal;

  /**
   * @param client uses the worker's own connection, so that the response can include the first workflow task (eager
   *   start).
   * @param signal ends the retries.
   */
  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** Throws when Temporal does not respond. */
  async ping(): Promise<void> {
    await this.#withDeadline(() => this.#client.workflowService.getSystemInfo({}));
  }

  /** Starts a workflow, unless one with this id is running. */
  async start(workflowType: string, options: StartOptions): Promise<void> {
    await this.#retrying(() =>
      this.#client.workflow.start(workflowType, {
        ...options,
        taskQueue: TASK_QUEUE,
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        requestEagerStart: true,
      }),
    );
  }

  /** Starts a workflow, or sends {@link STARTED_AGAIN_SIGNAL} with the command's id if it is running. */
  async signalWithStart(workflowType: string, options: StartOptions, commandId: string): Promise<void> {
    await this.#retrying(() =>
      this.#client.workflow
        .signalWithStart(workflowType, {
          ...options,
          taskQueue: TASK_QUEUE,
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          signal: STARTED_AGAIN_SIGNAL,
          signalArgs: [commandId],
        })
        .catch(ignoreSignalLimit),
    );
  }

  /** Does nothing if no workflow with this id is open. */
  async signal(workflowId: string, signalName: string, args: unknown[]): Promise<void> {
    await this.#retrying(() =>
      ignoreNotFound(this.#client.workflow.getHandle(workflowId).signal(signalName, ...args)),
    );
  }

  /** Does nothing if no workflow with this id is open. */
  async cancel(workflowId: string, { id, reason }: CancelRequest): Promise<void> {
    // The handle's own cancel() takes no reason.
    const cancellation = {
      namespace: this.#client.options.namespace,
      workflowExecution: { workflowId },
      requestId: id,
      reason,
    };
    await this.#retrying(() =>
      ignoreNotFound(this.#client.workflowService.requestCancelWorkflowExecution(cancellation)),
    );
  }

  #retrying<T>(call: () => Promise<T>): Promise<T> {
    return retrying(() => this.#withDeadline(call), {
      forMs: RETRY_FOR_MS,
      codeOf: grpcCodeOf,
      signal: this.#signal,
    });
  }

  /** The SDK's own deadline does not end its wait for a new connection. */
  #withDeadline<T>(call: () => Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error('Temporal does not respond')), CALL_TIMEOUT_MS);
    const answered = this.#client.connection.withDeadline(Date.now() + CALL_TIMEOUT_MS, call);
    return Promise.race([answered, late.promise]).finally(() => clearTimeout(timer));
  }
}

async function ignoreNotFound(call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    const isGone = error instanceof WorkflowNotFoundError || grpcCodeOf(error) === Code.NotFound;
    if (!isGone) throw error;
  });
}

/** A run that accepts no more signals has received thousands, so it checks for new work anyway. */
function ignoreSignalLimit(error: unknown): void {
  const message = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  if (!message.includes(SIGNAL_LIMIT)) throw error;
}

/** The client wraps some errors once. */
function grpcCodeOf(error: unknown): Code | undefined {
  if (isGrpcServiceError(error)) return error.code as number;
  return error instanceof Error && isGrpcServiceError(error.cause) ? (error.cause.code as number) : undefined;
}
