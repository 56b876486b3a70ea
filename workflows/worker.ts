import { setTimeout as delay } from 'node:timers/promises';
import type { Transport } from '@connectrpc/connect';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import type { Logger } from 'pino';
import { registerTemporalUp } from './dispatch-metrics.ts';
import { pause } from './retrying.ts';
import { createDelivery } from './webhooks/delivery.ts';
import {
  bundleWorkflows,
  openSession,
  type SessionDeps,
  type TemporalSession,
  type WorkerConfig,
} from './worker-session.ts';

export interface WorkerOptions {
  readonly config: WorkerConfig;
  /** To the services, as a caller with the grant `dispatch` and those that the activities take. */
  readonly transport: Transport;
  /** `host:port`. */
  readonly temporalAddress: string;
  readonly logger: Logger;
}

export interface PaymentsWorker {
  /** Whether Temporal answers this process at this moment; told within a second. */
  health(): Promise<{ readonly temporal: boolean }>;
  /** Takes no more work, ends and reports what is under way, and lets go of everything: half a minute at most. */
  close(): Promise<void>;
}

/** The SDK itself goes on trying for ten seconds. */
const HEALTH_TIMEOUT_MS = 1_000;

let bundle: Promise<WorkflowBundleWithSourceMap> | undefined;

/**
 * Starts the worker of all workflows and activities, with the dispatcher beside it. Resolves when it is able to work,
 * also while Temporal is away: it connects once there is something to connect to, and again when that was lost.
 * Throws for settings that cannot be used and for workflow code that does not bundle.
 */
export async function startWorker(options: WorkerOptions): Promise<PaymentsWorker> {
  const { config, transport, logger } = options;
  const delivery = createDelivery(config, transport, logger);
  bundle ??= bundleWorkflows(logger);
  const supervisor = new Supervisor({ ...options, delivery, workflowBundle: await bundle });
  registerTemporalUp(() => supervisor.temporalAnswers());
  return {
    health: async () => ({ temporal: await supervisor.temporalAnswers() }),
    async close() {
      await supervisor.stop();
      await delivery.close();
    },
  };
}

/** Keeps one session with Temporal open. */
class Supervisor {
  readonly #deps: SessionDeps;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #session: TemporalSession | undefined;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.#running = this.#run();
  }

  async temporalAnswers(): Promise<boolean> {
    if (!this.#session) return false;
    const answer = this.#session.ping().then(
      () => true,
      () => false,
    );
    return Promise.race([answer, delay(HEALTH_TIMEOUT_MS, false, { ref: false })]);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#session?.stop().catch(() => undefined);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { logger, temporalAddress } = this.#deps;
    let failures = 0;
    while (!signal.aborted) {
      try {
        this.#session = await openSession(this.#deps);
        logger.info({ temporalAddress }, 'the worker is connected to Temporal');
        failures = 0;
        // Stopped while it was being opened.
        if (signal.aborted) await this.#session.stop();
        await this.#session.ended;
      } catch (error) {
        if (failures === 0 && !signal.aborted) {
          logger.warn({ err: error, temporalAddress }, 'Temporal does not answer; the worker tries again');
        }
        await pause(failures, signal);
        failures += 1;
      } finally {
        this.#session = undefined;
      }
    }
  }
}
