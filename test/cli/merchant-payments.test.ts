import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { Webhook } from 'standardwebhooks';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createGateway } from '../../gateway/app.ts';
import { ApiKeyScope } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { DeliveryStatus } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { newMerchant, startGateways } from '../gateway/gateway-harness.ts';
import { call } from '../gateway/http-call.ts';
import { webhooksFixture } from '../services/webhooks/webhooks-fixture.ts';
import { portOf } from '../support/port-of.ts';
import { startRuntime } from '../support/runtime-process.ts';

/** The maximum number of unanswered deliveries, and a larger number. */
const MOST_UNANSWERED = 50;
const BURST = 70;

const gateways = await startGateways();
const webhooks = webhooksFixture(gateways.harness, gateways.harness.transports.inProcess);
afterAll(() => gateways.close());

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A server on this machine, as a developer runs it; `respond` may be replaced. */
async function startLocalServer() {
  const received: Received[] = [];
  const local = {
    received,
    url: '',
    respond: (response: ServerResponse) => void response.writeHead(204).end(),
  };
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: Buffer.concat(await Array.fromAsync(request)) });
    local.respond(response);
  });
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  local.url = `http://localhost:${await portOf(server)}/hooks?from=sandbox`;
  return local;
}

/** Runs the command against the sandbox. */
function start(args: readonly string[], key: string, port = gateways.ports.test) {
  const { child, exited } = startRuntime(['cli/merchant-payments.ts', ...args], {
    MERCHANT_PAYMENTS_API_KEY: key,
    MERCHANT_PAYMENTS_BASE_URL: `http://127.0.0.1:${port}`,
  });
  const lines: string[] = [];
  for (const output of [child.stdout!, child.stderr!]) {
    createInterface(output).on('line', (line) => lines.push(line));
  }
  const ended = exited.then(({ exitCode }) => exitCode);
  /** The line that matches, once it is printed. */
  const line = (pattern: RegExp) =>
    expect
      .poll(() => lines.find((each) => pattern.test(each)), { message: `${pattern} in ${lines.join('\n')}` })
      .toBeDefined()
      .then(() => lines.find((each) => pattern.test(each))!);
  return { child, lines, ended, line };
}

/** Runs a command until it exits. */
async function run(args: readonly string[], key: string, port?: number) {
  const { lines, ended } = start(args, key, port);
  return { exitCode: await ended, output: lines.join('\n') };
}

async function startListening(key: string, url: string, ...more: string[]) {
  const command = start(['listen', '--forward-to', url, ...more], key);
  const secret = (await command.line(/^Signing secret: /)).split(': ')[1]!;
  return { ...command, secret };
}

const newDeveloper = async () => {
  const { merchantId, keys } = await newMerchant(gateways);
  return { key: keys.test, liveKey: keys.live, tenant: { merchantId, environment: Environment.TEST } };
};

const countListeners = async ({ merchantId }: { merchantId: string }) => {
  const [row] = await webhooks.sql<{ count: number }>(
    'select count(*)::int as count from webhooks.subscription where merchant_id = $1',
    [merchantId],
  );
  return row!.count;
};

test('a sandbox event arrives on a local server with its exact signed bytes, and its answer in the dashboard', async () => {
  const { key, tenant } = await newDeveloper();
  const local = await startLocalServer();
  const { secret, line, child } = await startListening(key, local.url);

  const { id } = await webhooks.publish(tenant);
  await line(new RegExp(`204 +payment\\.succeeded\\.v1 +\\d+ ms +${id}$`));
  const [{ headers, body } = { headers: {}, body: Buffer.of() }] = local.received;
  const [event] = await webhooks.sql<{ body: string }>('select body from webhooks.event where id = $1', [id]);
  expect(body.toString()).toBe(event!.body);
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': id });
  new Webhook(secret).verify(body, headers as Record<string, string>);
  expect(local.received).toHaveLength(1);

  local.respond = (response) => void response.writeHead(500).end('no such table');
  const triggered = await run(['trigger', 'refund.requested.v1'], key);
  expect(triggered).toMatchObject({ exitCode: 0, output: expect.stringMatching(/^Published refund/) });
  await line(/500 +refund\.requested\.v1/);
  const statuses = async () =>
    (await webhooks.deliveries.listDeliveries({ ...tenant, withLastAttempt: true })).deliveries.map(
      ({ status, attemptCount, lastAttempt }) => [status, attemptCount, lastAttempt?.httpStatus],
    );
  await expect.poll(statuses).toEqual([
    [DeliveryStatus.EXHAUSTED, 1, 500],
    [DeliveryStatus.SUCCEEDED, 1, 204],
  ]);
  const [failed] = (await webhooks.deliveries.listDeliveries(tenant)).deliveries;
  const { attempts } = await webhooks.deliveries.getDelivery({ ...tenant, deliveryId: failed!.id });
  expect(attempts[0]!.responseExcerpt).toBe('no such table');

  local.respond = (response) => void response.writeHead(200).end();
  expect(await run(['resend', failed!.eventId], key)).toMatchObject({
    exitCode: 0,
    output: `Sent ${failed!.eventId} again to 1 listener.`,
  });
  await line(new RegExp(`200 .*${failed!.eventId}$`));
  expect(local.received.at(-1)!.headers['webhook-id']).toBe(failed!.eventId);

  const listed = await call(gateways.ports.test, '/v1/webhook-subscriptions', { key });
  expect(listed.json).toMatchObject({ data: [] });
  expect(await countListeners(tenant)).toBe(1);
  child.kill('SIGKILL');
  await expect.poll(() => countListeners(tenant)).toBe(0);
  await webhooks.publish(tenant);
  expect((await webhooks.deliveries.listDeliveries(tenant)).deliveries).toHaveLength(3);
  const alone = await run(['resend', id], key);
  expect(alone).toMatchObject({ exitCode: 1, output: expect.stringContaining('No listener is open') });
});

test('it forwards only the chosen types, and an unreachable server is a failed attempt', async () => {
  const { key, tenant } = await newDeveloper();
  const url = 'http://127.0.0.1:9/hooks';
  const { line, lines } = await startListening(key, url, '--events', 'refund.requested.v1');
  await webhooks.publish(tenant);
  await run(['trigger', 'refund.requested.v1'], key);
  await line(/CONNECTION_REFUSED +refund\.requested\.v1/);
  expect(lines.filter((each) => each.includes('payment.succeeded.v1'))).toEqual([]);
  await expect
    .poll(async () =>
      (await webhooks.deliveries.listDeliveries(tenant)).deliveries.map(({ status }) => status),
    )
    .toEqual([DeliveryStatus.EXHAUSTED]);
});

test('events tail prints a line of JSON for each event', async () => {
  const { key, tenant } = await newDeveloper();
  const { lines } = start(['events', 'tail', '--events', 'payment.succeeded.v1'], key);
  // It may not be connected yet when the first events are published.
  await expect
    .poll(async () => {
      await webhooks.publish(tenant);
      return lines.length;
    })
    .toBeGreaterThan(0);
  expect(JSON.parse(lines[0]!)).toMatchObject({ type: 'payment.succeeded.v1', data: { currency: 'BRL' } });
});

test('a refused command explains why, and exits', async () => {
  const { key, liveKey, tenant } = await newDeveloper();
  const listen = ['listen', '--forward-to', 'http://localhost:3000/'];
  const { key: unscoped } = await gateways.issueKey(tenant.merchantId, Environment.TEST, [
    ApiKeyScope.REFUNDS_READ,
  ]);
  const elsewhere = `http://127.0.0.1:${gateways.ports.test}/elsewhere`;
  const long = `http://localhost:3000/${'a'.repeat(3_000)}`;
  const withPassword = 'https://user:password@sandbox.example';
  const refusals: readonly [string, RegExp, readonly string[], string, number?][] = [
    ['a live key', /live key/, listen, liveKey],
    ['no key', /MERCHANT_PAYMENTS_API_KEY/, listen, ''],
    ['a key without the scope', /scope webhooks:manage/, listen, unscoped],
    ['the live host', /sandbox's address/, listen, key, gateways.ports.live],
    ['nothing there', /ECONNREFUSED/, listen, key, 2],
    ['an unknown type', /^The event type: "refund\.opened\.v1" is not/, ['trigger', 'refund.opened.v1'], key],
    ['an empty type', /^The event type must be/, ['trigger', ''], key],
    ['an unknown event', /^The event id is not/, ['resend', tenant.merchantId], key],
    ['no event id', /^The event id must be a UUID/, ['resend', 'abc'], key],
    ['unknown types to print', /^--events: "b" is not/, ['events', 'tail', '--events', 'b,b'], key],
    ['unknown types to listen to', /^--events: "b" is not/, [...listen, '--events', 'b,b,'], key],
    ['no types', /^Set --events to/, ['events', 'tail', '--events', ' ,'], key],
    ['a long target', /^--forward-to must be/, [...listen.slice(0, 2), long], key],
    ['no target', /--forward-to/, ['listen'], key],
    ['a trigger without a type', /^Name the event type/, ['trigger'], key],
    ['a resend without an event', /^Give the id of the event/, ['resend'], key],
    ['another path', /answered 404/, ['trigger', 'refund.requested.v1', '--base-url', elsewhere], key],
    ['a base URL with a password', /^The base URL must/, ['trigger', 'a', '--base-url', withPassword], key],
    ['a clear-text host', /https/, [...listen, '--base-url', 'http://sandbox.example'], key],
  ];
  await Promise.all(
    refusals.map(async ([name, reason, args, apiKey, port]) => {
      const { exitCode, output } = await run(args, apiKey, port);
      expect(output, name).toMatch(reason);
      expect(exitCode, name).toBe(1);
    }),
  );
});

test('a server that answers every request with a page is not taken for the sandbox', async () => {
  const local = await startLocalServer();
  local.respond = (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hi');
  const port = Number(new URL(local.url).port);
  const listen = ['listen', '--forward-to', 'http://localhost:3000/'];
  for (const args of [listen, ['events', 'tail'], ['trigger', 'refund.requested.v1']]) {
    const { exitCode, output } = await run(args, 'mpk_test_a', port);
    expect([exitCode, output]).toEqual([
      1,
      expect.stringMatching(/^http\S+ answered 200: it is not the sandbox/),
    ]);
  }
});

test('Ctrl-C ends it at once, also while a server does not answer', async () => {
  const { key, tenant } = await newDeveloper();
  const local = await startLocalServer();
  local.respond = () => undefined;
  const listening = await startListening(key, local.url);
  await webhooks.publish(tenant);
  const triggering = start(['trigger', 'refund.requested.v1'], key, Number(new URL(local.url).port));
  await expect.poll(() => local.received.length).toBe(2);
  const before = performance.now();
  for (const { child } of [listening, triggering]) child.kill('SIGINT');
  await Promise.all([listening.ended, triggering.ended]);
  expect(performance.now() - before).toBeLessThan(5_000);
});

/** A sandbox that calls the services over gRPC, as one in its own process, and can be started again on its port. */
async function startSandbox(port = 0) {
  const { config, transports } = gateways.harness;
  const logger = createLogger('silent');
  const app = createGateway({ environment: 'test', config, transport: transports.grpc, logger });
  onTestFinished(() => app.close());
  return { app, port: Number(new URL(await app.listen({ host: '127.0.0.1', port })).port) };
}

test('a stopping sandbox removes its listeners at once; the command listens again with the same secret', async () => {
  const { key, tenant } = await newDeveloper();
  const local = await startLocalServer();
  const { app, port } = await startSandbox();
  const { line } = start(['listen', '--forward-to', local.url], key, port);
  const secret = (await line(/^Signing secret: /)).split(': ')[1]!;
  expect(await countListeners(tenant)).toBe(1);
  await app.close();
  // Long before the lease of a listener whose process has died.
  await expect.poll(() => countListeners(tenant), { timeout: 20_000 }).toBe(0);
  await line(/Reconnecting in \d+ s\. Events published in the meantime are not forwarded/);
  await webhooks.publish(tenant);

  await startSandbox(port);
  await line(/^Reconnected/);
  const { id } = await webhooks.publish(tenant);
  await line(new RegExp(`204 .*${id}$`));
  expect(local.received.map(({ headers }) => headers['webhook-id'])).toEqual([id]);
  const [{ headers, body }] = local.received as [Received];
  new Webhook(secret).verify(body, headers as Record<string, string>);
});

test('events tail connects again after a sandbox was away, also if nothing had been published before', async () => {
  const { key, tenant } = await newDeveloper();
  const { app, port } = await startSandbox();
  const connecting = once(app.server, 'request');
  const { line } = start(['events', 'tail'], key, port);
  const [, response] = (await connecting) as [unknown, ServerResponse];
  await expect.poll(() => response.headersSent).toBe(true);
  await app.close();
  await line(/^The connection ended\. Reconnecting/);
  await line(/ECONNREFUSED\. Reconnecting/);

  const { app: restarted } = await startSandbox(port);
  const [, reopened] = (await once(restarted.server, 'request')) as [unknown, ServerResponse];
  await expect.poll(() => reopened.headersSent).toBe(true);
  const { id } = await webhooks.publish(tenant);
  await line(new RegExp(id));
});

test('a command that starts while the sandbox is unavailable tries again', async () => {
  const local = await startLocalServer();
  const problem = { code: 'SERVICE_UNAVAILABLE', detail: 'Try again.', requestId: 'req_1' };
  local.respond = (refused) => {
    local.respond = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: event\ndata: {"id":"e-1"}\n\n');
    };
    refused.writeHead(503, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
  };
  const { line } = start(['events', 'tail'], 'mpk_test_a', Number(new URL(local.url).port));
  await line(/^Try again\. \(SERVICE_UNAVAILABLE, request req_1\) Reconnecting in \d+ s/);
  await line(/^\{"id":"e-1"\}$/);
});

test('a burst is forwarded fifty deliveries at a time, each of them once', async () => {
  const { key, tenant } = await newDeveloper();
  const local = await startLocalServer();
  const waiting: ServerResponse[] = [];
  local.respond = (response) => void waiting.push(response);
  const { lines } = await startListening(key, local.url);
  const published = await webhooks.publishMany(tenant, BURST);
  await expect.poll(() => waiting.length).toBe(MOST_UNANSWERED);
  local.respond = (response) => void response.writeHead(204).end();
  for (const response of waiting) response.writeHead(204).end();

  await expect.poll(() => lines.filter((each) => / 204 /.test(each)).length).toBe(BURST);
  const received = local.received.map(({ headers }) => String(headers['webhook-id']));
  expect(received.sort()).toEqual(published.sort());
  const open = 'select count(*)::int as count from webhooks.open_delivery where merchant_id = $1';
  await expect.poll(() => webhooks.sql(open, [tenant.merchantId])).toEqual([{ count: 0 }]);
});
