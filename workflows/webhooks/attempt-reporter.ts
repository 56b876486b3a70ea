import { type Client, ConnectError } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type { AttemptOutcome, DispatchService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
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
const MOST_PER_RPC = 100;
/** Well within the minute that an activity has. */
const ACTIVITY_PATIENCE_MS = 20_000;
/** Long after its deadline an attempt is closed as lost, and its report is worth nothing any more. */
const BACKGROUND_PATIENCE_MS = 10 * 60_000;

/** Reports attempts. Whatever fails here, only the report is repeated, never the sending. */
export class AttemptReporter {
  readonly #deps: AttemptReporterDeps;
  /** Handed over, with the report not yet taken; bounded as open attempts are. */
  readonly #handedOver = new Set<OpenAttempt>();
  #ready: { attempt: OpenAttempt; report: AttemptReportInit }[] = [];
  #flushing = false;

  constructor(deps: AttemptReporterDeps) {
    this.#deps = deps;
  }

  /** Reports now, and again while the services are away, for 20 s. Outcomes are in the order of the reports. */
  async report(reports: AttemptReportInit[]): Promise<AttemptOutcome[]> {
    return this.#send(reports, ACTIVITY_PATIENCE_MS);
  }

  /** Reports each when it has ended, in the background. */
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
      const batch = this.#ready.splice(0, MOST_PER_RPC);
      await this.#send(
        batch.map(({ report }) => report),
        BACKGROUND_PATIENCE_MS,
      ).catch((error: unknown) => {
        countDispatchErrors('REPORT', batch.length);
        this.#deps.logger.error({ err: error, attempts: batch.length }, 'reports of attempts were not taken');
      });
      for (const { attempt } of batch) this.#forget(attempt);
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

  #forget(attempt: OpenAttempt): void {
    this.#handedOver.delete(attempt);
    this.#deps.attempts.close(attempt);
  }
}
