import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { WebhookSubscriptionState } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant, startHarness } from '../../../support/harness.ts';
import { sqlOf } from '../../../support/harness-sql.ts';
import { loopbackSettings } from '../../../support/loopback-settings.ts';
import { startRuntime } from '../../../support/runtime-process.ts';
import { newKeyRing } from '../../../support/secrets.ts';
import { startReceiver } from '../../../support/tls-receiver.ts';
import { webhooksFixture } from '../webhooks-fixture.ts';

const ROLE = new URL('../../../../services/webhooks/lanes/database-role.sql', import.meta.url);

/** The URL of a database for the role, whose password is new. */
async function roleUrl(databaseUrl: string): Promise<string> {
  const password = randomUUID();
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(await readFile(ROLE, 'utf8'));
  await client.query(`alter role webhook_lanes password '${password}'`);
  await client.end();
  return Object.assign(new URL(databaseUrl), { username: 'webhook_lanes', password }).href;
}

test('a separate process sends webhooks with a least-privilege database role', async () => {
  const settings = {
    ...loopbackSettings(),
    WEBHOOK_SECRET_KEYS: newKeyRing(),
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
  const role = new pg.Client({ connectionString: databaseUrl });
  await role.connect();
  await expect(role.query('select from refunds.refund_case')).rejects.toThrow('permission denied');
  await expect(role.query('select from platform.service_token')).rejects.toThrow('permission denied');
  await role.end();
  lanes.child.kill('SIGTERM');
  expect(await lanes.exited).toEqual({ exitCode: 0, stderr: '' });
  expect(lanes.logged()).not.toContain('permission denied');
  await harness.close();
});
