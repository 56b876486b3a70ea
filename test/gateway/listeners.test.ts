import { randomBytes } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { webhooksFixture } from '../services/webhooks/webhooks-fixture.ts';
import { newWrite } from '../support/harness.ts';
import { newMerchant, startGateways } from './gateway-harness.ts';
import { call, expectProblem } from './http-call.ts';

const gateways = await startGateways();
const webhooks = webhooksFixture(gateways.harness, gateways.harness.transports.inProcess);
afterAll(() => gateways.close());

const LISTENERS = '/cli/v1/listeners';
const listener = () => ({
  signingSecret: `whsec_${randomBytes(32).toString('base64')}`,
  forwardsTo: 'http://localhost:3000/',
});

/** A stream; `next` returns its next message, without comments, and undefined at its end. */
async function streamOf(key: string, path: string, body?: object) {
  const left = new AbortController();
  onTestFinished(() => left.abort());
  const response = await fetch(`http://127.0.0.1:${gateways.ports.test}${path}`, {
    signal: left.signal,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(await response.text());
  const bytes = response.body!.pipeThrough(new TextDecoderStream()).values();
  let pending = '';
  const next = async (): Promise<Record<string, string> | undefined> => {
    for (;;) {
      const end = pending.indexOf('\n\n');
      const block = end < 0 ? undefined : pending.slice(0, end);
      if (block !== undefined) pending = pending.slice(end + 2);
      const data = block?.match(/^data: (.*)$/m)?.[1];
      if (data !== undefined) return JSON.parse(data);
      if (block !== undefined) continue;
      const { done, value } = await bytes.next();
      if (done) return undefined;
      pending += value;
    }
  };
  return { next, leave: () => left.abort() };
}

/** Opens a listener. */
async function open(key: string) {
  const stream = await streamOf(key, LISTENERS, listener());
  const { listenerId = '' } = (await stream.next())!;
  return { ...stream, listenerId };
}

const inTest = (merchantId: string) => ({ merchantId, environment: Environment.TEST });
const report = (listenerId: string, deliveryId: string, key: string, body: object) =>
  call(gateways.ports.test, `${LISTENERS}/${listenerId}/deliveries/${deliveryId}`, { key, body });

test("the channel exists only on the sandbox's host, with sandbox keys", async () => {
  const { keys } = await newMerchant(gateways);
  const body = listener();
  const { live, test: sandbox } = gateways.ports;
  expectProblem(await call(live, LISTENERS, { key: keys.live, body }), 'ROUTE_NOT_FOUND');
  expectProblem(await call(live, '/cli/v1/events', { key: keys.live }), 'ROUTE_NOT_FOUND');
  expectProblem(await call(sandbox, LISTENERS, { key: keys.live, body }), 'API_KEY_ENVIRONMENT_MISMATCH');
  expectProblem(await call(sandbox, LISTENERS, { body }), 'API_KEY_MISSING');
  const weak = { ...body, signingSecret: 'whsec_c2hvcnQ=' };
  expectProblem(
    await call(sandbox, LISTENERS, { key: keys.test, body: weak }),
    'INVALID_REQUEST',
    /signingSecret/,
  );
  const { paths } = (await call(sandbox, '/openapi.json')).json;
  expect(Object.keys(paths).filter((path) => path.startsWith('/cli'))).toEqual([]);
});

test('another merchant neither receives a delivery nor reports on it', async () => {
  const [owner, other] = [await newMerchant(gateways), await newMerchant(gateways)];
  const { next, listenerId } = await open(owner.keys.test);
  const others = await open(other.keys.test);
  const { id } = await webhooks.publish(inTest(owner.merchantId));
  const { deliveryId = '', eventId } = (await next())!;
  expect(eventId).toBe(id);
  const answer = { status: 204, latencyMs: 3 };
  const refused = await report(listenerId, deliveryId, other.keys.test, answer);
  expectProblem(refused, 'WEBHOOK_SUBSCRIPTION_NOT_FOUND');
  const stray = await report(others.listenerId, deliveryId, other.keys.test, { status: 500, latencyMs: 3 });
  expect(stray.status).toBe(204);
  const mine = { ...inTest(owner.merchantId), deliveryId };
  expect((await webhooks.deliveries.getDelivery(mine)).attempts).toEqual([]);
  expect((await report(listenerId, deliveryId, owner.keys.test, answer)).status).toBe(204);
  // The first report counts.
  expect((await report(listenerId, deliveryId, owner.keys.test, { ...answer, status: 500 })).status).toBe(
    204,
  );
  const { attempts } = await webhooks.deliveries.getDelivery(mine);
  expect(attempts.map(({ httpStatus }) => httpStatus)).toEqual([204]);
  const { id: ownEvent } = await webhooks.publish(inTest(other.merchantId));
  expect((await others.next())!.eventId).toBe(ownEvent);
});

test('a merchant follows only its own events, as they are delivered', async () => {
  const [owner, other] = [await newMerchant(gateways), await newMerchant(gateways)];
  const { next } = await streamOf(owner.keys.test, '/cli/v1/events');
  const deliveries = await open(owner.keys.test);
  await webhooks.publish(inTest(other.merchantId));
  await webhooks.publish({ ...inTest(owner.merchantId), environment: Environment.LIVE });
  const { id } = await webhooks.publish(inTest(owner.merchantId));
  const event = await next();
  expect(event).toMatchObject({ id, environment: 'test', sequence: 1, data: { currency: 'BRL' } });
  expect(JSON.parse((await deliveries.next())!.body!)).toEqual(event);
});

test('a key may have three concurrent streams', async () => {
  const { keys } = await newMerchant(gateways);
  const [first] = [await open(keys.test), await open(keys.test), await open(keys.test)];
  const one = { key: keys.test, body: listener() };
  const refused = await call(gateways.ports.test, LISTENERS, one);
  expectProblem(refused, 'WEBHOOK_SUBSCRIPTION_LIMIT_REACHED', /3 streams/);
  first!.leave();
  await expect.poll(() => open(keys.test).then(() => true, String)).toBe(true);
});

test('the stream of a revoked key ends, with its subscription', async () => {
  const { merchantId } = await newMerchant(gateways);
  const { key, apiKeyId } = await gateways.issueKey(merchantId, Environment.TEST);
  const { next } = await open(key);
  const apiKeys = createClient(ApiKeyService, gateways.harness.transports.inProcess);
  await apiKeys.revokeApiKey({ ...newWrite(inTest(merchantId)), apiKeyId });
  const publishing = setInterval(() => void webhooks.publish(inTest(merchantId)), 200);
  onTestFinished(() => clearInterval(publishing));
  while ((await next()) !== undefined);
  const find = 'select id from webhooks.subscription where merchant_id = $1';
  await expect.poll(() => webhooks.sql(find, [merchantId])).toEqual([]);
});
