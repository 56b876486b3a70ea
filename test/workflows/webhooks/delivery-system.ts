import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { expect, vi } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { type Delivery, DeliveryStatus } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { PaymentsWorker } from '../../../workflows/worker.ts';
import { WORKER_CALLER } from '../../../workflows/worker-caller.ts';
import {
  type Endpoint,
  type LanesFixture,
  startLanesFixture,
} from '../../services/webhooks/lanes/lanes-fixture.ts';
import { newTenant, type TestTenant } from '../../support/harness.ts';
import { startHarnessWorker } from '../../support/harness-worker.ts';
import type { TestNamespace } from '../../support/temporal.ts';
import { createTestNamespace } from '../../support/temporal-namespace.ts';

/** For round trips through outbox and Temporal on a machine that is busy with other tests. */
export const SOON = { timeout: 40_000, interval: 100 };

/** A merchant of the sandbox with one subscription and its endpoint. */
export interface Subscriber {
  readonly tenant: TestTenant;
  readonly subscriptionId: string;
  readonly endpoint: Endpoint;
}

/** Services that send webhooks, and a worker in a namespace of Temporal. */
export class DeliverySystem {
  readonly webhooks: LanesFixture;
  readonly temporal: TestNamespace;
  /** RPCs that the worker cannot reach, by name. */
  readonly unavailable = new Set<string>();
  /** How often the worker has called each RPC, by name. */
  readonly calls = new Map<string, number>();
  worker: PaymentsWorker | undefined;

  private constructor(webhooks: LanesFixture, temporal: TestNamespace) {
    this.webhooks = webhooks;
    this.temporal = temporal;
  }

  /** @param temporal default: a namespace of the server that test files share. */
  static async start(settings: Record<string, string>, temporal?: TestNamespace): Promise<DeliverySystem> {
    const [webhooks, namespace] = await Promise.all([
      startLanesFixture(settings),
      temporal ?? createTestNamespace(),
    ]);
    const system = new DeliverySystem(webhooks, namespace);
    // A Temporal of the test's own may lose its state, which the worker notices by its Schedules.
    const hasSchedules = temporal !== undefined;
    system.worker = await startHarnessWorker(webhooks.harness, namespace, {
      transport: system.transport,
      hasSchedules,
    });
    return system;
  }

  /** The worker's transport to the services. */
  get transport(): Transport {
    const transport = this.webhooks.harness.services.transportFor(WORKER_CALLER);
    return {
      ...transport,
      unary: (method, ...call) => {
        this.calls.set(method.name, this.callsOf(method.name) + 1);
        if (this.unavailable.has(method.name)) throw new ConnectError('no connection', Code.Unavailable);
        return transport.unary(method, ...call);
      },
    };
  }

  callsOf(rpc: string): number {
    return this.calls.get(rpc) ?? 0;
  }

  async subscriber(): Promise<Subscriber> {
    const tenant = newTenant(Environment.TEST);
    const { id: subscriptionId, endpoint } = await this.webhooks.subscribed(tenant);
    return { tenant, subscriptionId, endpoint };
  }

  async deliveryOf({ tenant }: Subscriber, eventId: string): Promise<Delivery> {
    const { deliveries } = await this.webhooks.deliveries.listDeliveries({ ...tenant, eventId });
    const { delivery } = await this.webhooks.deliveries.getDelivery({
      ...tenant,
      deliveryId: deliveries[0]!.id,
    });
    return delivery!;
  }

  /** The delivery of an event, once it has this status. */
  becomes(subscriber: Subscriber, eventId: string, status: DeliveryStatus): Promise<Delivery> {
    return vi.waitFor(async () => {
      const delivery = await this.deliveryOf(subscriber, eventId);
      expect(DeliveryStatus[delivery.status]).toBe(DeliveryStatus[status]);
      return delivery;
    }, SOON);
  }

  /** Ids of the workflows that a query finds, as in the Temporal UI. */
  find(query: string): Promise<string[]> {
    return Array.fromAsync(this.temporal.client.workflow.list({ query }), ({ workflowId }) => workflowId);
  }

  retryOf(deliveryId: string) {
    return this.temporal.client.workflow.getHandle(`delivery-${deliveryId}`);
  }

  /** Waits until the Temporal UI shows this of the pending activity of a retry. */
  async shows(deliveryId: string, message: RegExp): Promise<void> {
    await vi.waitFor(async () => {
      const { raw } = await this.retryOf(deliveryId).describe();
      expect(raw.pendingActivities?.[0]?.lastFailure?.message).toMatch(message);
    }, SOON);
  }

  /** Waits until a retry workflow has this status, such as `COMPLETED`. */
  async closesAs(deliveryId: string, status: string): Promise<void> {
    await vi.waitFor(
      async () => expect((await this.retryOf(deliveryId).describe()).status.name).toBe(status),
      SOON,
    );
  }

  /** The START commands that are kept for a workflow. */
  startsOf(workflowId: string) {
    return this.webhooks.sql<{ id: string; starts: number }>(
      `select id, starts from platform.outbox_command where kind = 'START' and workflow_id = $1`,
      [workflowId],
    );
  }

  /** Makes the START commands of a workflow due, as time does. */
  async startAgain(workflowId: string): Promise<void> {
    await this.webhooks.sql('update platform.outbox_command set due_at = now() where workflow_id = $1', [
      workflowId,
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.worker?.close();
    await this.webhooks[Symbol.asyncDispose]();
    await this.temporal[Symbol.asyncDispose]();
  }
}
