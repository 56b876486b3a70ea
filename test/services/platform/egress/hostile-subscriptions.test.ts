import net from 'node:net';
import { type Client, ConnectError, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { WebhookSubscriptionService } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { createEgressGuard } from '../../../../services/platform/egress/egress-guard.ts';
import type { Dial } from '../../../../services/platform/egress/guarded-connector.ts';
import { errorInfoOf } from '../../../../services/platform/rpc/connect-errors.ts';
import { type GatewayHarness, newMerchant, startGateways } from '../../../gateway/gateway-harness.ts';
import { call } from '../../../gateway/http-call.ts';
import { newKey, newTenant } from '../../../support/harness.ts';
import { webhooksFixture } from '../../webhooks/webhooks-fixture.ts';
import { deliverWaiting } from './deliver-waiting.ts';
import { HOSTILE_FORMS, HOSTILE_HOSTS } from './hostile-urls.ts';

/** One in ten: webhook-url.test.ts checks each, and guarded-connector.test.ts each host at the connection. */
const oneInTen = <T>(all: readonly T[]) => all.filter((_, index) => index % 10 === 0);
const HOSTS = oneInTen(HOSTILE_HOSTS).map((host, index) =>
  index % 2 ? `https://${host}:8443/hook?a=b` : `https://${host}/hook`,
);
const FORMS = oneInTen(HOSTILE_FORMS).map(([text]) => text);
const EVENT_TYPES = ['payment.succeeded.v1'];

let gateways: GatewayHarness;
let client: Client<typeof WebhookSubscriptionService>;
beforeAll(async () => {
  gateways = await startGateways({ RATE_LIMIT_LIVE: '1000000', WEBHOOK_SUBSCRIPTION_LIMIT: '10000' });
  client = createClient(WebhookSubscriptionService, gateways.harness.transports.grpc);
});
afterAll(() => gateways.close());

const fixture = () => webhooksFixture(gateways.harness, gateways.harness.transports.inProcess);

/** The unexpected responses, by URL. */
async function unexpectedAnswers(
  urls: readonly string[],
  answerTo: (url: string) => Promise<string>,
  isExpected: (answer: string) => boolean,
) {
  const unexpected: string[] = [];
  for (const url of urls) {
    const answer = await answerTo(url);
    if (!isExpected(answer)) unexpected.push(`${JSON.stringify(url)}: ${answer}`);
  }
  return unexpected;
}

async function overRpc(url: string): Promise<string> {
  try {
    await client.createWebhookSubscription({
      ...newTenant(),
      idempotencyKey: newKey(),
      url,
      eventTypes: EVENT_TYPES,
    });
    return 'created';
  } catch (error) {
    return errorInfoOf(ConnectError.from(error))?.reason ?? String(error);
  }
}

const subscriptions = async () =>
  (await fixture().sql<{ count: string }>('select count(*) from webhooks.subscription'))[0]!.count;

describe('a hostile URL', () => {
  it('is rejected by CreateWebhookSubscription, and nothing is stored', async () => {
    const isRefusal = (reason: string) => reason === 'INVALID_WEBHOOK_URL';
    expect(await unexpectedAnswers(HOSTS, overRpc, isRefusal)).toEqual([]);
    const isRefusalOfForm = (reason: string) => isRefusal(reason) || reason === 'INVALID_ARGUMENT';
    expect(await unexpectedAnswers(FORMS, overRpc, isRefusalOfForm)).toEqual([]);
    expect(await subscriptions()).toBe('0');
  });

  it('is rejected by the public API, and nothing is stored', async () => {
    const { keys } = await newMerchant(gateways);
    const overHttp = async (url: string) => {
      const answer = await call(gateways.ports.live, '/v1/webhook-subscriptions', {
        key: keys.live,
        headers: { 'idempotency-key': newKey() },
        body: { url, eventTypes: EVENT_TYPES },
      });
      return `${answer.status} ${answer.json.code}`;
    };
    const isRefusal = (answer: string) => /^4\d\d INVALID_WEBHOOK_URL$/.test(answer);
    expect(await unexpectedAnswers(HOSTS, overHttp, isRefusal)).toEqual([]);
    const isRefusalOfForm = (answer: string) => isRefusal(answer) || /^4\d\d INVALID_REQUEST$/.test(answer);
    expect(await unexpectedAnswers(FORMS, overHttp, isRefusalOfForm)).toEqual([]);
    expect(await subscriptions()).toBe('0');
  });

  it('is neither resolved nor dialed even if a subscription has it', async () => {
    const dial = vi.fn<Dial>(net.connect);
    const asPublic = vi.fn(async () => ['93.184.215.14']);
    const { WEBHOOK_ALLOWED_PORTS: allowedPorts } = gateways.harness.config;
    const guard = createEgressGuard({ allowedPorts }, { dial, dnsLookup: asPublic, systemLookup: asPublic });
    const tenant = newTenant(Environment.LIVE);
    // The rest is kept out by the table's own check.
    const urls = [...HOSTS, ...FORMS].filter((url) => url.startsWith('https://'));
    const ids: string[] = [];
    for (const _url of urls) ids.push((await fixture().subscribe(tenant)).id);
    await fixture().sql(
      `update webhooks.subscription s set url = hostile.url
         from unnest($1::uuid[], $2::text[]) as hostile (id, url) where s.id = hostile.id`,
      [ids, urls],
    );
    await deliverWaiting(gateways.harness, { live: guard, test: guard });
    await guard.close();
    const attempts = await fixture().sql<{ url: string; failure: string | null }>(
      `select s.url, a.failure from webhooks.delivery d
         join webhooks.subscription s on s.id = d.subscription_id
         left join webhooks.attempt a on a.delivery_id = d.id`,
    );
    expect(attempts.map(({ url }) => url).toSorted()).toEqual(urls.toSorted());
    expect(attempts.filter(({ failure }) => failure !== 'EGRESS_DENIED')).toEqual([]);
    expect([dial.mock.calls, asPublic.mock.calls]).toEqual([[], []]);
  });
});
