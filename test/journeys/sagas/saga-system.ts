import { expect } from 'vitest';
import { newKeyRings } from '../../../local/generated-secrets.ts';
import * as dailyRelease from '../../../workflows/funds/daily-release.contract.ts';
import { startHarness } from '../../support/harness.ts';
import { startHarnessWorker } from '../../support/harness-worker.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { startProvider } from '../../support/provider-server.ts';
import { sqlOf } from '../../support/sql.ts';
import type { TestNamespace } from '../../support/temporal.ts';
import { testWorkflowBundles } from '../../support/temporal-namespace.ts';
import { startSmtpInbox } from '../../workflows/accounts/smtp-inbox.ts';
import { HeldWrites } from './held-writes.ts';
import { REVIEW_PERIOD_MS } from './refund-sagas.ts';
import { eventually, type SagaWorld } from './saga.ts';
import type { GateCommand, GateReport } from './step-gate.ts';

/** Services, Temporal, and a process whose worker holds sagas at their steps. */
export class SagaSystem implements AsyncDisposable {
  readonly world: SagaWorld;
  readonly temporal: TestNamespace;
  readonly #process: Program;
  readonly #writes: HeldWrites;
  readonly #resources: AsyncDisposableStack;
  readonly #reports = new Set<string>();

  private constructor(
    world: SagaWorld,
    temporal: TestNamespace,
    writes: HeldWrites,
    resources: AsyncDisposableStack,
  ) {
    this.world = world;
    this.temporal = temporal;
    this.#writes = writes;
    this.#resources = resources;
    this.#process = resources.use(startHeldProcess(world, temporal));
    this.#process.child.on('message', (message) => this.#recordReport(message as GateReport));
  }

  static async start(temporal: TestNamespace): Promise<SagaSystem> {
    await using resources = new AsyncDisposableStack();
    resources.use(temporal);
    const [provider, inbox] = await Promise.all([startProvider(), startSmtpInbox()]);
    resources.use(provider);
    resources.use(inbox);
    const harness = await startHarness({
      ...provider.settings,
      SMTP_URL: inbox.url,
      MERCHANT_REVIEW_PERIOD: `${REVIEW_PERIOD_MS / 1_000}s`,
    });
    resources.defer(() => harness.close());
    const writes = resources.use(await HeldWrites.open(harness));
    return new SagaSystem({ harness, provider, inbox }, temporal, writes, resources.move());
  }

  /**
   * Waits for the first daily release, and pauses the later ones, which are hourly: none may run between the steps of an
   * advance on past funds.
   */
  async waitUntilReady(): Promise<void> {
    await eventually(async () => {
      const query = 'WorkflowType = "releaseDailyFunds" and ExecutionStatus = "Completed"';
      expect(await this.#workflows(query)).not.toEqual([]);
    });
    await this.temporal.client.schedule.getHandle(dailyRelease.scheduleId).pause();
  }

  /** Holds a merchant's saga at a step: `<before|within|after> <rpc>`. */
  async hold(merchantId: string, step: string): Promise<void> {
    const [when, rpc = ''] = step.split(' ');
    if (when === 'within') return this.#writes.hold(merchantId, rpc);
    if (when !== 'before' && when !== 'after') throw new TypeError(`no step: ${step}`);
    this.#send({ hold: { merchantId, when, rpc } });
    await this.#waitForReport(`armed ${merchantId}`);
  }

  /** Resolves when the merchant's saga is held at the step. */
  async waitUntilHeld(merchantId: string, step: string): Promise<void> {
    if (step.startsWith('within')) await this.#writes.waitUntilHeld(merchantId);
    else await this.#waitForReport(`held ${merchantId}`);
  }

  /** Releases the writes held within their transaction, which cannot wait for long. */
  releaseWrites = () => this.#writes.releaseAll();

  /** Releases all other steps; resolves when their calls have ended, whether they succeeded or failed. */
  async releaseSteps(): Promise<void> {
    this.#send({ release: true });
    await this.#waitForReport('released');
  }

  pause = () => this.#process.child.kill('SIGSTOP');
  resume = () => this.#process.child.kill('SIGCONT');

  /** Starts another worker, which holds nothing. */
  async startWorker(): Promise<void> {
    const worker = await startHarnessWorker(this.world.harness, this.temporal, { hasSchedules: true });
    this.#resources.defer(() => worker.close());
  }

  /** The running workflows, except those started by Schedules. */
  running = () => this.#workflows('ExecutionStatus = "Running" and TemporalScheduledById is null');

  /** The workflows whose commands are still in the outbox. */
  async unfinished(): Promise<string[]> {
    const select = 'select workflow_id from platform.outbox_command order by workflow_id';
    const rows = await sqlOf<{ workflow_id: string }>(this.world.harness, select);
    return rows.map(({ workflow_id }) => workflow_id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.resume();
    await this.#resources.disposeAsync();
  }

  #workflows(query: string): Promise<string[]> {
    return Array.fromAsync(this.temporal.client.workflow.list({ query }), ({ workflowId }) => workflowId);
  }

  #send(command: GateCommand): void {
    this.#process.child.send(command);
  }

  #recordReport(report: GateReport): void {
    if ('armed' in report) this.#reports.add(`armed ${report.armed}`);
    else if ('held' in report) this.#reports.add(`held ${report.held}`);
    else this.#reports.add('released');
  }

  #waitForReport(report: string): Promise<void> {
    return eventually(async () => expect(this.#reports.has(report), report).toBe(true));
  }
}

function startHeldProcess({ harness, provider, inbox }: SagaWorld, temporal: TestNamespace): Program {
  const settings = {
    // Each write that is held has a connection.
    DATABASE_POOL_SIZE: '50',
    DATABASE_URL: harness.databaseUrl,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    ...testWorkflowBundles(),
    LOG_LEVEL: 'fatal',
    ...newKeyRings(),
    REFUND_EXECUTION: 'manual',
    MERCHANT_REVIEW_PERIOD: `${REVIEW_PERIOD_MS / 1_000}s`,
    SMTP_URL: inbox.url,
    ...provider.settings,
  };
  return startProgram('test/journeys/sagas/held-process.ts', settings, {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}
