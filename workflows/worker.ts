import { setTimeout as delay } from 'node:timers/promises';
import type { Transport } from '@connectrpc/connect';
import type { WorkflowBundleOption } from '@temporalio/worker';
import type { Logger } from 'pino';
import { closeWithin } from '../services/platform/process/close-within.ts';
import { connectProviders } from './provider-clients.ts';
import { registerTemporalUp } from './relay/relay-metrics.ts';
import { backOff } from './retrying.ts';
import { createDataConverter } from './temporal/data-converter.ts';
import { openTemporalCredentials } from './temporal/temporal-connection.ts';
import { openSession, type SessionDeps, type TemporalSession, type WorkerConfig } from './worker-session.ts';
import { type BundleConfig, workflowBundleOf } from './workflow-bundle.ts';

export interface WorkerOptions {
  readonly config: WorkerConfig & BundleConfig;
  /** Calls the services with the grants of the caller `worker`. */
  readonly transport: Transport;
  /** `host:port`. */
  readonly temporalAddress: string;
  readonly logger: Logger;
  /** The bundled workflow code. Default: as configured. */
  readonly workflowBundle?: WorkflowBundleOption | undefined;
  /** Whether it keeps the Temporal Schedules. Default: true. */
  readonly hasSchedules?: boolean;
}

export interface PaymentsWorker {
  /** Whether Temporal responds to this process right now. Resolves within a second. */
  health(): Promise<{ readonly temporal: boolean }>;
  /** Accepts no more work, finishes and reports what is in progress, and closes all connections, within ten seconds. */
  close(): Promise<void>;
}

/** The SDK's own calls keep retrying for ten seconds. */
const HEALTH_TIMEOUT_MS = 1_000;
/** Process managers kill after ten seconds. The SDK waits longer for a Temporal that does not respond. */
const STOP_TIMEOUT_MS = 9_000;

/**
 * Starts the worker of all workflows and activities, and the relay of workflow commands. Resolves even while Temporal is
 * unavailable: the worker connects in the background, and reconnects when it loses the connection. Throws for invalid
 * settings and for workflow code that is missing or does not bundle.
 */
export async function startWorker(options: WorkerOptions): Promise<PaymentsWorker> {
  const { config, logger } = options;
  const workflowBundle = options.workflowBundle ?? (await workflowBundleOf(config));
  const dataConverter = await createDataConverter(config, logger);
  const credentials = openTemporalCredentials(options.temporalAddress, config, logger);
  const providers = connectProviders(config);
  const supervisor = new Supervisor({ ...options, providers, workflowBundle, credentials, dataConverter });
  registerTemporalUp(() => supervisor.isTemporalUp());
  return {
    health: async () => ({ temporal: await supervisor.isTemporalUp() }),
    async close() {
      await supervisor.stop();
      providers.close();
      credentials.close();
    },
  };
}

/** Keeps one session with Temporal open, and reopens it when it ends. */
class Supervisor {
  readonly #deps: SessionDeps;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #session: TemporalSession | undefined;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.#running = this.#run();
  }

  async isTemporalUp(): Promise<boolean> {
    if (!this.#session) return false;
    const isUp = this.#session.ping().then(
      () => true,
      () => false,
    );
    return Promise.race([isUp, delay(HEALTH_TIMEOUT_MS, false, { ref: false })]);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    const stopped = Promise.all([this.#session?.stop().catch(() => undefined), this.#running]);
    await closeWithin(STOP_TIMEOUT_MS, stopped);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { logger, temporalAddress } = this.#deps;
    let failures = 0;
    while (!signal.aborted) {
      try {
        this.#session = await openSession(this.#deps);
        logger.info({ temporalAddress }, 'the worker has connected to Temporal');
        failures = 0;
        // stop() was called while the session was being opened.
        if (signal.aborted) await this.#session.stop();
        await this.#session.ended;
      } catch (error) {
        if (failures === 0 && !signal.aborted) {
          logger.warn(
            { err: error, temporalAddress },
            'Temporal is unavailable; the worker keeps trying to connect',
          );
        }
        await backOff(failures, signal);
        failures += 1;
      } finally {
        this.#session = undefined;
      }
    }
  }
}
