import { setTimeout as delay } from 'node:timers/promises';
import { fromJsonString } from '@bufbuild/protobuf';
import { type Client, ConnectError } from '@connectrpc/connect';
import type { Logger } from 'pino';
import {
  RecordProviderOutcomeRequestSchema,
  type RefundCaseService,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { REFUSALS } from '../../../workflows/final-refusal.ts';
import type { ConnectorStore, Report } from './connector-store.ts';
import { OUTCOME_AFTER_MS } from './demo-outcomes.ts';

/**
 * The minimum pause between polls. The maximum is {@link OUTCOME_AFTER_MS}, because no report is due sooner than that.
 */
const MIN_PAUSE_MS = 500;
const CALL = { timeoutMs: 5_000 };

/** Reports outcomes when they are due, until it is stopped. Keeps those that cannot be reported yet. */
export class OutcomeReporter {
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  constructor(store: ConnectorStore, refunds: Client<typeof RefundCaseService>, logger: Logger) {
    this.#running = this.#run(store, refunds, logger);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(store: ConnectorStore, refunds: Client<typeof RefundCaseService>, logger: Logger) {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const pauseMs = await this.#reportDue(store, refunds, logger).catch((error: unknown) => {
        // Its file cannot be read or written, as on a full disk.
        logger.warn({ err: error }, "the demo connector's reports wait");
        return OUTCOME_AFTER_MS;
      });
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Makes the reports that are due. Returns how long to wait for the next ones. */
  async #reportDue(
    store: ConnectorStore,
    refunds: Client<typeof RefundCaseService>,
    logger: Logger,
  ): Promise<number> {
    for (const report of store.dueReports(new Date())) {
      if (this.#stopping.signal.aborted || !(await this.#isSettled(report, refunds, logger))) break;
      store.endReport(report.id);
    }
    const untilDueMs = (store.nextDueAt() ?? Number.POSITIVE_INFINITY) - Date.now();
    return Math.min(Math.max(untilDueMs, MIN_PAUSE_MS), OUTCOME_AFTER_MS);
  }

  /** Reports an outcome. Returns whether it is settled: recorded, or refused for good. */
  async #isSettled({ id, request }: Report, refunds: Client<typeof RefundCaseService>, logger: Logger) {
    try {
      await refunds.recordProviderOutcome(fromJsonString(RecordProviderOutcomeRequestSchema, request), CALL);
      return true;
    } catch (error) {
      const isRefused = error instanceof ConnectError && REFUSALS.has(error.code);
      logger.warn(
        { err: error, report: id },
        `the demo connector's report was ${isRefused ? 'refused' : 'not answered'}`,
      );
      return isRefused;
    }
  }
}
