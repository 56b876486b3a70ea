import { type Client, ConnectError } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type { AttemptOutcome, DispatchService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { MAX_BATCH_SIZE } from '../../services/contracts/webhooks/delivery-limits.ts';
import { countDispatchErrors } from '../dispatch-metrics.ts';
import { retrying } from '../retrying.ts';
import { type AttemptReportInit, attemptReport } from './attempt-report.ts';
import type { OpenAttempt, OpenAttempts } from './open-attempts.ts';

export interface AttemptReporterDeps {
  readonly dispatch: Client<typeof DispatchService>;
  readonly attempts: OpenAttempts;
  readonly logger: Logger;
}

const RPC_TIMEOUT_MS = 10_000;
/** Well within the activity's timeout of a minute. */
const ACTIVITY_RETRY_MS = 20_000;
/** Long after its deadline an attempt is closed as lost, and its report is of no more use. */
const BACKGROUND_RETRY_MS = 10 * 60_000;

/** Reports attempts. After a failure it retries the report, never the request to the receiver. */
export class AttemptReporter {
  readonly #deps: AttemptReporterDeps;
  /** Attempts handed over whose report is not yet accepted; bounded as open attempts are. */
  readonly #handedOver = new Set<OpenAttempt>();
  #ready: { attempt: OpenAttempt; report: AttemptReportInit }[] = [];
  #flushing = false;

  constructor(deps: AttemptReporterDeps) {
    this.#deps = deps;
  }

  /** Reports now, and retries for 20 s while the services are unavailable. Outcomes are in the order of the reports. */
  async report(reports: AttemptReportInit[]): Promise<AttemptOutcome[]> {
    return this.#send(reports, ACTIVITY_RETRY_MS);
  }

  /** Reports each attempt in the background when it has ended. */
  reportLater(attempts: readonly OpenAttempt[]): void {
    for (const attempt of attempts) {
      if (this.#handedOver.has(attempt)) continue;
      this.#handedOver.add(attempt);
      attempt.ended.then((record) => {
        this.#ready.push({ attempt, report: attemptReport(attempt, record) });
        if (!this.#flushing) void this.#flush();
      });
    }
  }

  async #flush(): Promise<void> {
    this.#flushing = true;
    while (this.#ready.length > 0) {
      const batch = this.#ready.splice(0, MAX_BATCH_SIZE);
      await this.#send(
        batch.map(({ report }) => report),
        BACKGROUND_RETRY_MS,
      ).catch((error: unknown) => {
        countDispatchErrors('REPORT', batch.length);
        this.#deps.logger.error(
          { err: error, attempts: batch.length },
          'reports of attempts were not accepted',
        );
      });
      for (const { attempt } of batch) this.#close(attempt);
    }
    this.#flushing = false;
  }

  async #send(reports: AttemptReportInit[], forMs: number): Promise<AttemptOutcome[]> {
    if (reports.length === 0) return [];
    const { dispatch } = this.#deps;
    const { outcomes } = await retrying(
      () => dispatch.reportAttempts({ reports }, { timeoutMs: RPC_TIMEOUT_MS }),
      { forMs, codeOf: (error) => ConnectError.from(error).code },
    );
    return outcomes;
  }

  #close(attempt: OpenAttempt): void {
    this.#handedOver.delete(attempt);
    this.#deps.attempts.close(attempt);
  }
}
