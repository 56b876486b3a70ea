import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { newKeyRings } from '../../../../local/generated-secrets.ts';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { WebhookSubscriptionState } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant, startHarness } from '../../../support/harness.ts';
import { loopbackSettings } from '../../../support/loopback-settings.ts';
import { startRuntime } from '../../../support/runtime-process.ts';
import { query, sqlOf } from '../../../support/sql.ts';
import { startReceiver } from '../../../support/tls-receiver.ts';
import { webhooksFixture } from '../webhooks-fixture.ts';

const ROLE = new URL('../../../../services/webhooks/lanes/database-role.sql', import.meta.url);

/** The URL of a database for the role, whose password is new. */
async function roleUrl(databaseUrl: string): Promise<string> {
  const password = randomUUID();
  await query(databaseUrl, await readFile(ROLE, 'utf8'), `alter role webhook_lanes password '${password}'`);
  return Object.assign(new URL(databaseUrl), { username: 'webhook_lanes', password }).href;
}

test('a separate process sends webhooks with a least-privilege database role', async () => {
  const settings = {
    ...loopbackSettings(),
    WEBHOOK_SECRET_KEYS: newKeyRings().WEBHOOK_SECRET_KEYS,
  };
  await using receiver = await startReceiver((request, response) => {
    response.writeHead(Number(request.url!.slice(1))).end();
  });
  const harness = await startHarness(settings);
  const databaseUrl = await roleUrl(harness.databaseUrl);
  const lanes = startRuntime('services/webhook-lanes.ts', {
    ...settings,
    DATABASE_URL: databaseUrl,
    OPS_PORT: '0',
  });
  const webhooks = webhooksFixture(harness, harness.transports.inProcess);
  const tenant = newTenant(Environment.TEST);
  const subscribe = (status: number) =>
    webhooks.subscribe(tenant, undefined, `https://localhost:${receiver.port}/${status}`);
  const [active, failing, gone] = [await subscribe(204), await subscribe(503), await subscribe(410)];
  const stateOf = async (subscriptionId: string) =>
    (await webhooks.subscriptions.getWebhookSubscription({ ...tenant, subscriptionId })).subscription!.state;
  await vi.waitFor(
    async () => {
      expect(await stateOf(active.id)).toBe(WebhookSubscriptionState.ACTIVE);
      expect(await stateOf(gone.id)).toBe(WebhookSubscriptionState.DISABLED);
    },
    { timeout: 60_000 },
  );
  await webhooks.publish(tenant);
  const commands = () =>
    sqlOf<{ workflow_type: string }>(harness, 'select distinct workflow_type from platform.outbox_command');
  await vi.waitFor(async () => {
    const types = (await commands()).map(({ workflow_type }) => workflow_type).sort();
    expect(types).toEqual(['notifyContact', 'recordDeliveries', 'retryDelivery']);
  });
  expect(await stateOf(failing.id)).toBe(WebhookSubscriptionState.PENDING);
  for (const table of ['refunds.refund_case', 'platform.service_token'])
    await expect(query(databaseUrl, `select from ${table}`)).rejects.toThrow('permission denied');
  lanes.child.kill('SIGTERM');
  expect(await lanes.exited).toEqual({ exitCode: 0, stderr: '' });
  expect(lanes.logged()).not.toContain('permission denied');
  await harness.close();
});
