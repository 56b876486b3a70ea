import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createClient, type Transport } from '@connectrpc/connect';
import { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { NativeConnection, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import type { Logger } from 'pino';
import { WorkflowCommandService } from '../proto/gen/payments/outbox/v1/outbox_pb.js';
import type { Config } from '../services/platform/process/config.ts';
import type { MailConfig } from './accounts/smtp-mailer.ts';
import { createActivities } from './activities.ts';
import type { ProviderClients, ProviderConfig } from './provider-clients.ts';
import { startCommandRelay } from './relay/command-relay.ts';
import { ensureSchedules } from './schedules.ts';
import { START_SETTINGS } from './start-settings.ts';
import { keepActivityCause } from './temporal/activity-cause.ts';
import type { PayloadConfig } from './temporal/data-converter.ts';
import { TASK_QUEUE } from './temporal/task-queue.ts';
import type {
  TemporalConnectionOptions,
  TemporalCredentials,
  TemporalSecurity,
} from './temporal/temporal-connection.ts';
import { prepareNamespace } from './temporal/temporal-namespace.ts';
import { installRuntime } from './temporal/temporal-runtime.ts';
import { explainRefusal } from './temporal/tls-refusal.ts';
import { WorkflowClient } from './temporal/workflow-client.ts';
import { failureSinks } from './temporal/workflow-failures.ts';

export type WorkerConfig = MailConfig &
  ProviderConfig &
  TemporalSecurity &
  PayloadConfig &
  Pick<Config, 'TEMPORAL_NAMESPACE'>;

export interface SessionDeps {
  readonly config: WorkerConfig;
  readonly transport: Transport;
  readonly temporalAddress: string;
  readonly logger: Logger;
  readonly providers: ProviderClients;
  readonly workflowBundle: WorkflowBundleOption;
  readonly credentials: TemporalCredentials;
  /** Encodes payloads. Default: no encoding. */
  readonly dataConverter: DataConverter | undefined;
  /** Whether the session keeps the Schedules. Default: true. */
  readonly hasSchedules?: boolean;
}

/** A connection to Temporal, with the worker and the relay that use it. */
export interface TemporalSession {
  /** Resolves after `stop`; rejects when the SDK gives up on the server. */
  readonly ended: Promise<void>;
  ping(): Promise<void>;
  /** Accepts no more work; resolves when the work in progress is done. */
  stop(): Promise<void>;
}

/** Many retries wait for their attempts at the same time, each in an activity. */
const SLOTS = {
  maxConcurrentWorkflowTaskExecutions: 200,
  maxConcurrentLocalActivityExecutions: 100,
  maxConcurrentActivityTaskExecutions: 500,
  maxCachedWorkflows: 500,
} as const;

const PREPARE_INTERVAL_MS = 30_000;
const RESEND_TIMEOUT_MS = 30_000;

/** Throws the SDK's error when Temporal is unavailable or refuses the client. */
export async function openSession(deps: SessionDeps): Promise<TemporalSession> {
  const { config, logger, credentials } = deps;
  installRuntime(logger);
  const options = credentials.current;
  const connection = await NativeConnection.connect(options).catch(async (error: unknown) => {
    throw await explainRefusal(error, options);
  });
  try {
    await prepareNamespace(connection, config.TEMPORAL_NAMESPACE).catch((error: unknown) =>
      logger.warn(
        { err: error },
        'cannot prepare the namespace; without its search attributes, Temporal starts no workflow',
      ),
    );
    await prepareSchedules(deps, connection).catch((error: unknown) =>
      logger.warn({ err: error }, 'cannot prepare the Schedules; the worker tries again in half a minute'),
    );
    return await runSession(deps, connection, options);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

const clientOf = ({ config, dataConverter }: SessionDeps, connection: NativeConnection) =>
  new Client({ connection, namespace: config.TEMPORAL_NAMESPACE, ...(dataConverter && { dataConverter }) });

/**
 * Prepares the namespace periodically: when a Temporal server loses its state, the SDK reconnects without notice, and
 * search attributes and Schedules are gone.
 */
async function keepPrepared(deps: SessionDeps, connection: NativeConnection, signal: AbortSignal) {
  const { config, logger } = deps;
  while (await wait(PREPARE_INTERVAL_MS, signal)) {
    const prepared = Promise.allSettled([
      prepareNamespace(connection, config.TEMPORAL_NAMESPACE),
      prepareSchedules(deps, connection),
    ]);
    for (const result of await prepared) {
      if (result.status === 'rejected')
        logger.debug({ err: result.reason }, 'could not prepare Temporal again');
    }
  }
}

/**
 * Missing Schedules show that Temporal is new or has lost its state: workflows that were running are started again.
 * Schedules are created after that, so that a worker which fails in between leaves them missing.
 */
async function prepareSchedules(deps: SessionDeps, connection: NativeConnection): Promise<void> {
  if (deps.hasSchedules === false) return;
  const commands = createClient(WorkflowCommandService, deps.transport);
  await ensureSchedules(clientOf(deps, connection), () =>
    commands.resendStarts({}, { timeoutMs: RESEND_TIMEOUT_MS }),
  );
}

/** Resolves to false when the signal ends the wait. */
const wait = (ms: number, signal: AbortSignal) => delay(ms, true, { signal }).catch(() => false);

function createWorker(
  { config, providers, transport, workflowBundle, dataConverter }: SessionDeps,
  connection: NativeConnection,
) {
  return Worker.create({
    ...SLOTS,
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    taskQueue: TASK_QUEUE,
    workflowBundle,
    ...(dataConverter && { dataConverter }),
    sinks: failureSinks,
    interceptors: { activity: [keepActivityCause] },
    activities: createActivities({ transport, providers, config }),
    // Process managers kill after ten seconds, two of which the relay may take.
    shutdownGraceTime: '4 seconds',
    shutdownForceTime: '7 seconds',
  });
}

async function runSession(
  deps: SessionDeps,
  connection: NativeConnection,
  options: TemporalConnectionOptions,
): Promise<TemporalSession> {
  const stopping = new AbortController();
  const temporal = new WorkflowClient(clientOf(deps, connection), stopping.signal);
  const worker = await createWorker(deps, connection);
  const running = worker.run();
  const commands = createClient(WorkflowCommandService, deps.transport);
  const relay = startCommandRelay({
    commands,
    temporal,
    logger: deps.logger,
    startSettings: START_SETTINGS,
  });
  void keepPrepared(deps, connection, stopping.signal);
  const ended = running.finally(async () => {
    stopping.abort();
    await relay.stop();
    await connection.close();
  });
  async function stop() {
    stopping.abort();
    await relay.stop();
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await ended;
  }
  const adopt = () =>
    adoptCredentials(deps, connection, options)
      .then((adopted) => (adopted ? undefined : stop()))
      // `ended` reports the failure.
      .catch((error: unknown) => deps.logger.debug({ err: error }, 'could not adopt credentials'));
  stopping.signal.addEventListener('abort', deps.credentials.onReplaced(adopt));
  // The credentials may have been replaced while the worker was connecting.
  void adopt();
  return { ended, ping: () => temporal.ping(), stop };
}

/** Makes the connection use a replaced API key. Resolves to false when it takes a new connection, as for certificates. */
async function adoptCredentials(
  { credentials, logger }: SessionDeps,
  connection: NativeConnection,
  { tls }: TemporalConnectionOptions,
): Promise<boolean> {
  const { apiKey, tls: currentTls } = credentials.current;
  if (!isDeepStrictEqual(currentTls, tls)) {
    logger.info("Temporal's certificates or their key have been replaced; the worker reconnects");
    return false;
  }
  if (apiKey !== undefined) await connection.setApiKey(apiKey);
  return true;
}
