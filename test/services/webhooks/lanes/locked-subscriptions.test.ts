import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { newTenant } from '../../../support/harness.ts';
import { eventually, type LanesFixture, startLanesFixture } from '../lanes-fixture.ts';

let webhooks: LanesFixture;
beforeAll(async () => {
  webhooks = await startLanesFixture();
});
afterAll(() => webhooks?.[Symbol.asyncDispose]());

/** A merchant whose endpoint answers 503. */
async function failing() {
  const tenant = newTenant(Environment.TEST);
  const { id, endpoint } = await webhooks.subscribed(tenant);
  endpoint.answer(503);
  return { tenant, id, endpoint, statuses: () => webhooks.statuses(tenant) };
}

it('results wait while another transaction holds their subscription, without delaying others', async () => {
  const [held, other] = await Promise.all([failing(), failing()]);
  const locking = new pg.Client({ connectionString: webhooks.harness.databaseUrl });
  await locking.connect();
  onTestFinished(() => locking.end());
  await locking.query('begin');
  await locking.query('select from webhooks.subscription where id = $1 for update', [held.id]);
  await webhooks.publish(held.tenant);
  await eventually(() => expect(held.endpoint.eventIds).toHaveLength(1));
  await webhooks.publish(other.tenant);
  await eventually(async () => expect(await other.statuses()).toEqual(['RETRYING']));
  expect(await held.statuses()).toEqual(['PENDING']);
  await locking.query('rollback');
  await eventually(async () => expect(await held.statuses()).toEqual(['RETRYING']));
});
