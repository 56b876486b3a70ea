import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DeliveryStatus } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { scrape } from '../../support/scrape.ts';
import { startTemporal, TEMPORAL_START_MS, type TestTemporal } from '../../support/temporal.ts';
import { DeliverySystem, SOON } from './delivery-system.ts';

const { SUCCEEDED, RETRYING } = DeliveryStatus;

let temporal: TestTemporal;
let system: DeliverySystem;
beforeAll(async () => {
  temporal = await startTemporal();
  await temporal.kill();
  // Starts while Temporal is unavailable.
  system = await DeliverySystem.start({ WEBHOOK_SCHEDULE_SANDBOX: `0s${',500ms'.repeat(20)}` }, temporal);
}, TEMPORAL_START_MS);
afterAll(() => system?.[Symbol.asyncDispose]());

const failedClaims = 'payments_workflow_command_errors_total{kind="CLAIM"}';
const isUp = (value: 0 | 1) =>
  vi.waitFor(async () => expect((await scrape())('payments_temporal_up')).toBe(value), SOON);

describe('while Temporal is unavailable', () => {
  it.each(['killed before the start', 'silent'])(
    'first attempts are made, and retries and records follow once it is back: %s',
    async (how) => {
      if (how !== 'killed before the start') await isUp(1);
      if (how === 'silent') process.kill(temporal.pid!, 'SIGSTOP');
      await isUp(0);
      expect(await system.worker!.health()).toEqual({ temporal: false });
      const [healthy, failing] = await Promise.all([system.subscriber(), system.subscriber()]);
      failing.endpoint.answer(503);
      const [delivered, failed] = await Promise.all([
        system.webhooks.publish(healthy.tenant),
        system.webhooks.publish(failing.tenant),
      ]);
      const { workflowId } = await system.becomes(healthy, delivered.id, SUCCEEDED);
      await system.becomes(failing, failed.id, RETRYING);
      failing.endpoint.answer(200);
      expect(failing.endpoint.eventIds).toHaveLength(1);
      if (how === 'silent') process.kill(temporal.pid!, 'SIGCONT');
      else await temporal.start();
      await system.becomes(failing, failed.id, SUCCEEDED);
      expect(failing.endpoint.eventIds).toHaveLength(2);
      await vi.waitFor(() => temporal.client.workflow.getHandle(workflowId).describe(), SOON);
      await isUp(1);
    },
  );
});

it('the worker counts failed calls while the services are unavailable, and continues once they are back', async () => {
  const failing = await system.subscriber();
  failing.endpoint.answer(503);
  const before = (await scrape())(failedClaims)!;
  system.unavailable.add('ClaimCommands');
  const { id: eventId } = await system.webhooks.publish(failing.tenant);
  await system.becomes(failing, eventId, RETRYING);
  failing.endpoint.answer(200);
  await vi.waitFor(async () => expect((await scrape())(failedClaims)).toBeGreaterThan(before + 1), SOON);
  system.unavailable.clear();
  await system.becomes(failing, eventId, SUCCEEDED);
});
