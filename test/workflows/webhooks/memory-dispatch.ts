import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createRouterTransport, type Transport } from '@connectrpc/connect';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  WorkflowCommandKind,
  WorkflowCommandService,
} from '../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import {
  type AttemptKey,
  type AttemptReport,
  type ClaimBatchRequest,
  DeliveryService,
  DeliveryStatus,
  DispatchService,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';

export interface MemoryDelivery {
  readonly id: string;
  readonly subscriptionId: string;
  readonly url: string;
  /** Waits before each attempt; the first is not used. */
  readonly scheduleMs: readonly number[];
  readonly reports: AttemptReport[];
  status: DeliveryStatus;
  batchId: string;
  dueAtMs: number;
  /** Its last attempt was handed over. */
  isUnderWay: boolean;
}

export interface MemoryCommand {
  readonly kind: WorkflowCommandKind;
  readonly workflowId: string;
  readonly workflowType?: string;
  readonly signalName?: string;
  readonly arguments?: readonly unknown[];
}

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';
/** Stands in every body that is sent. */
export const PRIVATE_WORDS = 'Maria das Dores';

const { PENDING, RETRYING, SUCCEEDED, EXHAUSTED, CANCELED } = DeliveryStatus;

/** What the webhooks service does for the worker, in memory: the parts of it that a test must be able to break. */
export class MemoryDispatch {
  readonly transport: Transport;
  readonly calls = {
    claimBatch: 0,
    claimCommands: 0,
    confirmCommands: 0,
    getAttempt: 0,
    reportAttempts: 0,
    cancelDelivery: 0,
  };
  /** Claims that are made, and whose answer is lost. */
  answersToLose = 0;
  /** RPCs that are refused as by a service that is away. */
  readonly away = new Set<keyof MemoryDispatch['calls']>();
  readonly confirmed: string[] = [];
  readonly #merchantId = randomUUID();
  readonly #deliveries = new Map<string, MemoryDelivery>();
  readonly #waiting: MemoryDelivery[] = [];
  #endWait = false;
  readonly #commands: (MemoryCommand & { id: string })[] = [];

  constructor() {
    this.transport = createRouterTransport(({ service }) => {
      service(DeliveryService, {
        cancelDelivery: ({ deliveryId }) => {
          this.#count('cancelDelivery');
          this.#deliveries.get(deliveryId)!.status = CANCELED;
          return {};
        },
      });
      service(WorkflowCommandService, {
        claimCommands: ({ waitMs }, { signal }) => {
          this.#count('claimCommands');
          return this.#claimCommands(waitMs, signal);
        },
        confirmCommands: ({ commandIds }) => {
          this.#count('confirmCommands');
          this.confirmed.push(...commandIds);
          return {};
        },
        endStarts: () => ({}),
        resendStarts: () => ({}),
      });
      service(DispatchService, {
        claimBatch: async (request, { signal }) => {
          this.#count('claimBatch');
          const claimed = await this.#claim(request, signal);
          if (claimed.batches.length === 0 || this.answersToLose === 0) return claimed;
          this.answersToLose -= 1;
          throw new ConnectError('the connection is lost', Code.Unavailable);
        },
        getAttempt: ({ attempts }) => {
          this.#count('getAttempt');
          return { answers: attempts.map((key) => this.#answer(key)) };
        },
        reportAttempts: ({ reports }) => {
          this.#count('reportAttempts');
          return { outcomes: reports.map((report) => this.#record(report)) };
        },
      });
    });
  }

  add(url: string, scheduleMs: readonly number[] = [0]): MemoryDelivery {
    const id = randomUUID();
    const delivery = {
      ...{ id, subscriptionId: randomUUID(), url, scheduleMs, reports: [] },
      ...{ status: PENDING, batchId: '', dueAtMs: 0, isUnderWay: false },
    };
    this.#deliveries.set(id, delivery);
    this.#waiting.push(delivery);
    return delivery;
  }

  command(command: MemoryCommand): string {
    const id = randomUUID();
    this.#commands.push({ ...command, id });
    return id;
  }

  cancel(delivery: MemoryDelivery): void {
    delivery.status = CANCELED;
    this.command({ kind: WorkflowCommandKind.CANCEL, workflowId: `delivery-${delivery.id}` });
  }

  /** Has the claim that waits now answer that there is nothing, as when its time is up. */
  endWait(): void {
    this.#endWait = true;
  }

  #count(rpc: keyof MemoryDispatch['calls']): void {
    this.calls[rpc] += 1;
    if (this.away.has(rpc)) throw new ConnectError('the service is away', Code.Unavailable);
  }

  async #claim({ waitMs, maxDeliveries, batchIds }: ClaimBatchRequest, signal: AbortSignal) {
    const until = Date.now() + waitMs;
    this.#endWait = false;
    const isIdle = () => this.#waiting.length === 0;
    while (isIdle() && Date.now() < until && !signal.aborted && !this.#endWait) await delay(2);
    const claimed = this.#waiting.splice(0, maxDeliveries);
    const id = batchIds?.test ?? randomUUID();
    for (const delivery of claimed) delivery.batchId = id;
    const batch = {
      ...{ id, environment: Environment.TEST, deliveryIds: claimed.map((delivery) => delivery.id) },
      ...{ merchantIds: [this.#merchantId], requestIds: ['request-1'] },
      subscriptionIds: claimed.map(({ subscriptionId }) => subscriptionId),
    };
    return { batches: claimed.length > 0 ? [batch] : [] };
  }

  async #claimCommands(waitMs: number, signal: AbortSignal) {
    const until = Date.now() + waitMs;
    while (this.#commands.length === 0 && Date.now() < until && !signal.aborted) await delay(2);
    const commands = this.#commands.splice(0).map((command) => ({
      ...command,
      argumentsJson: JSON.stringify(command.arguments ?? []),
      environment: Environment.TEST,
      merchantId: this.#merchantId,
      requestId: 'request-2',
    }));
    return { commands };
  }

  #answer({ deliveryId, batchId, now }: AttemptKey) {
    const delivery = this.#deliveries.get(deliveryId)!;
    const { status, reports } = delivery;
    if (status !== (batchId ? PENDING : RETRYING)) {
      const retry = status === RETRYING ? this.#retryOf(delivery) : undefined;
      return { deliveryId, answer: { case: 'skip' as const, value: { status, ...(retry && { retry }) } } };
    }
    if (now && !delivery.isUnderWay) delivery.dueAtMs = 0;
    const delayMs = Math.ceil(delivery.dueAtMs - Date.now());
    if (delayMs > 0) {
      const { httpStatus, failure } = (!delivery.isUnderWay && reports.at(-1)) || {};
      const attemptNumber = reports.length + (delivery.isUnderWay ? 1 : 0);
      const value = {
        ...{ delayMs, attemptNumber },
        ...(httpStatus !== undefined && { httpStatus }),
        ...(failure !== undefined && { failure }),
      };
      return { deliveryId, answer: { case: 'notNow' as const, value } };
    }
    const value = {
      attemptNumber: reports.length + 1,
      generation: 1n,
      subscriptionId: delivery.subscriptionId,
      environment: Environment.TEST,
      url: delivery.url,
      eventId: delivery.id,
      body: Buffer.from(JSON.stringify({ id: delivery.id, name: PRIVATE_WORDS })),
      signingSecrets: [SECRET],
    };
    return { deliveryId, answer: { case: 'send' as const, value } };
  }

  #record(report: AttemptReport) {
    const delivery = this.#deliveries.get(report.deliveryId)!;
    if (report.attemptNumber === delivery.reports.length + 1) this.#move(delivery, report);
    const { id: deliveryId, status, dueAtMs } = delivery;
    if (status !== RETRYING) return { deliveryId, status };
    return { deliveryId, status, nextAttemptAt: timestampFromMs(dueAtMs), retry: this.#retryOf(delivery) };
  }

  #retryOf({ id: deliveryId, subscriptionId }: MemoryDelivery) {
    return {
      ...{ deliveryId, subscriptionId, merchantId: this.#merchantId, environment: Environment.TEST },
      ...{ requestId: 'request-1', eventType: 'product.created.v1' },
    };
  }

  #move(delivery: MemoryDelivery, report: AttemptReport): void {
    const wasUnderWay = delivery.isUnderWay;
    delivery.isUnderWay = report.stillRunning;
    if (report.stillRunning) {
      delivery.status = RETRYING;
      delivery.dueAtMs = Number(report.deadlineAt!.seconds) * 1000 + 5_000;
      return;
    }
    delivery.reports.push(report);
    const isDelivered = report.httpStatus !== undefined && Math.floor(report.httpStatus / 100) === 2;
    const waitMs = delivery.scheduleMs[delivery.reports.length];
    delivery.dueAtMs = Date.now() + (waitMs ?? 0);
    if (isDelivered) delivery.status = SUCCEEDED;
    else delivery.status = waitMs === undefined ? EXHAUSTED : RETRYING;
    if (wasUnderWay && delivery.status === RETRYING) {
      const workflowId = `delivery-${delivery.id}`;
      this.command({ kind: WorkflowCommandKind.SIGNAL, workflowId, signalName: 'recheck' });
    }
  }
}
