import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WorkflowCommandKind } from '../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { AttemptFailure, DeliveryStatus } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { timestampOf } from '../../../services/platform/timestamps.ts';
import { newTenant, startHarness, type TestHarness } from '../../support/harness.ts';
import {
  type AttemptReportInit,
  answered,
  type TestTenant,
  type WebhooksFixture,
  webhooksFixture,
} from './webhooks-fixture.ts';

/** What retry workflows are told: when to ask again, why, and that they ask too late. */

const { RETRYING, SUCCEEDED } = DeliveryStatus;

let harness: TestHarness;
let fixture: WebhooksFixture;
let tenant: TestTenant;
beforeAll(async () => {
  harness = await startHarness();
  fixture = webhooksFixture(harness, harness.transports.inProcess);
});
afterAll(() => harness?.close());
beforeEach(() => {
  tenant = newTenant();
});

/** The first attempt of a new delivery, handed out and not yet reported. */
async function beginDelivery() {
  await fixture.subscribe(tenant);
  await fixture.claimKeys();
  await fixture.publish(tenant);
  const keys = await fixture.claimKeys();
  expect(keys).toHaveLength(1);
  const [key] = keys;
  return { key: key!, deliveryId: key!.deliveryId, send: await fixture.send(key!) };
}

type Begun = Awaited<ReturnType<typeof beginDelivery>>;

const stillRunning = ({ deliveryId, send }: Begun): AttemptReportInit => ({
  ...{ deliveryId, attemptNumber: send.attemptNumber, generation: send.generation, stillRunning: true },
  startedAt: timestampOf(new Date()),
  deadlineAt: timestampOf(new Date(Date.now() + 15_000)),
});

/** A delivery whose first attempt has failed; the next is due in five seconds. */
async function failDelivery() {
  const begun = await beginDelivery();
  await fixture.report(answered(begun.deliveryId, begun.send, 503));
  return begun;
}

const notNow = async (deliveryId: string) => {
  const [answer] = await fixture.ask([{ deliveryId }]);
  if (answer?.case !== 'notNow') throw new Error(`answered ${answer?.case}`);
  return answer.value;
};

describe('a retry that is not due', () => {
  it('is told how its last attempt ended', async () => {
    const { deliveryId } = await failDelivery();
    const answer = await notNow(deliveryId);
    expect(answer).toMatchObject({ attemptNumber: 1, httpStatus: 503 });
    expect(answer.failure).toBeUndefined();
    expect(answer.delayMs).toBeGreaterThan(3_000);
  });

  it.each([AttemptFailure.UNREACHABLE, AttemptFailure.PROXY, AttemptFailure.TIMEOUT])(
    'is told the failure %s of its last attempt',
    async (failure) => {
      const { deliveryId, send } = await beginDelivery();
      const { httpStatus: _, ...report } = answered(deliveryId, send, 0);
      await fixture.report({ ...report, failure });
      expect(await notNow(deliveryId)).toMatchObject({ attemptNumber: 1, failure });
      const { attempts } = await fixture.deliveries.getDelivery({ ...tenant, deliveryId });
      expect(attempts).toMatchObject([{ failure }]);
    },
  );

  it('is told that its last attempt is under way', async () => {
    const begun = await beginDelivery();
    await fixture.report(stillRunning(begun));
    const answer = await notNow(begun.deliveryId);
    expect(answer).toMatchObject({ attemptNumber: 1 });
    expect([answer.httpStatus, answer.failure]).toEqual([undefined, undefined]);
  });

  it('goes when it is asked for now, once', async () => {
    const { deliveryId } = await failDelivery();
    const send = await fixture.send({ deliveryId, now: true });
    expect(send.attemptNumber).toBe(2);
    await fixture.report(answered(deliveryId, send, 503));
    expect(await notNow(deliveryId)).toMatchObject({ attemptNumber: 2 });
  });

  it('is due from then on, also where the answer was lost', async () => {
    const { deliveryId } = await failDelivery();
    await fixture.sql(`update webhooks.open_delivery set leased_to = 'another' where id = $1`, [deliveryId]);
    const [answer] = await fixture.ask([{ deliveryId, now: true }]);
    expect(answer?.case).toBe('notNow');
    await fixture.sql(`update webhooks.open_delivery set leased_to = 'test' where id = $1`, [deliveryId]);
    expect((await fixture.send({ deliveryId })).attemptNumber).toBe(2);
  });

  it('does not go now while its last attempt is under way, and keeps its schedule', async () => {
    const begun = await beginDelivery();
    const [outcome] = await fixture.report(stillRunning(begun));
    const [answer] = await fixture.ask([{ deliveryId: begun.deliveryId, now: true }]);
    expect(answer?.case).toBe('notNow');
    const { delivery } = await fixture.deliveries.getDelivery({ ...tenant, deliveryId: begun.deliveryId });
    expect(delivery!.nextAttemptAt).toEqual(outcome!.nextAttemptAt);
  });
});

describe('the end of an attempt that was handed over', () => {
  const commandsTo = async (deliveryId: string) =>
    (await fixture.claimCommands()).filter(({ workflowId }) => workflowId === `delivery-${deliveryId}`);

  it('tells the retry workflow to ask again, once, where it has failed', async () => {
    const begun = await beginDelivery();
    await fixture.report(stillRunning(begun));
    expect(await commandsTo(begun.deliveryId)).toEqual([]);
    const failed = answered(begun.deliveryId, begun.send, 503);
    expect(await fixture.report(failed)).toMatchObject([{ status: RETRYING }]);
    await fixture.report(failed);
    expect(await commandsTo(begun.deliveryId)).toMatchObject([
      {
        ...{ kind: WorkflowCommandKind.SIGNAL, signalName: 'recheck', argumentsJson: '[]' },
        ...{ merchantId: tenant.merchantId, requestId: expect.stringMatching(/./) },
      },
    ]);
  });

  it('tells nothing where there is nothing more to do', async () => {
    const begun = await beginDelivery();
    await fixture.report(stillRunning(begun));
    expect(await fixture.report(answered(begun.deliveryId, begun.send, 200))).toMatchObject([
      { status: SUCCEEDED },
    ]);
    expect(await commandsTo(begun.deliveryId)).toEqual([]);
  });

  it('tells nothing where the retry workflow asks in time', async () => {
    const begun = await beginDelivery();
    await fixture.report(stillRunning(begun));
    await fixture.report({ ...answered(begun.deliveryId, begun.send, 503), retryAfterMs: 60_000n });
    expect(await commandsTo(begun.deliveryId)).toEqual([]);
  });
});
