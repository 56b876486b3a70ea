import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { issueCertificate } from '../../local/certificates.ts';
import { textTable } from '../../local/text-table.ts';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { ALL_GRANTS } from '../../services/platform/rpc/grants.ts';
import { type WebhooksFixture, webhooksFixture } from '../services/webhooks/webhooks-fixture.ts';
import type { TestTenant } from '../support/harness.ts';
import { createLoopbackGuard } from '../support/loopback-guard.ts';
import { testAuthority } from '../support/tls-receiver.ts';
import { startBenchServices } from './bench-services.ts';
import type { HostsReceiver, HostsSeen } from './hosts-receiver.ts';
import { cpuSeconds } from './process-cpu.ts';

/** Each is sent one event a minute. */
const HOSTS = Number(process.env.BENCH_HOSTS ?? 10_000);
const EVENTS_A_SECOND = 10_000 / 60;
const MIN_SECONDS = 20;
/** Idle connections are closed by then. */
const SETTLE_MS = 8_000;
const AT_A_TIME = 32;
const HEADINGS = ['', 'deliveries', 'CPU ms each', 'of it services', 'connections', 'resumed', 'RSS MB'];

interface Bench {
  readonly fixture: WebhooksFixture;
  readonly receiver: ChildProcess;
}

/**
 * CPU per delivery, publishing included, of services and PostgreSQL: to one busy endpoint, and at the same rate to endpoints
 * on names of their own, whose connections have closed since their last event. BENCH_HOSTS sets how many names.
 */
export async function benchHosts(): Promise<void> {
  console.log(
    `hosts: ${EVENTS_A_SECOND.toFixed(0)} events a second to one name, and to ${HOSTS} names in turn`,
  );
  await using stack = new AsyncDisposableStack();
  const { receiver, port, dnsServer } = await startReceiver(stack);
  const { services, databaseUrl } = await startBenchServices(stack);
  const transport = services.transportFor({ name: 'bench', grants: new Set(ALL_GRANTS) });
  const fixture = webhooksFixture({ databaseUrl }, transport);
  const tenants = await subscribe(fixture, HOSTS + 1);
  await fixture.sql(
    `update webhooks.subscription set url = 'https://h' || n || '.hosts.example.com:${port}/'
       from (select id, row_number() over (order by id) as n from webhooks.subscription) numbered
      where numbered.id = subscription.id`,
  );
  await fixture.sql('vacuum analyze webhooks.subscription, webhooks.open_delivery');
  const bench = { fixture, receiver };
  const guard = createLoopbackGuard({ dnsServers: [dnsServer] });
  services.startWebhookLanes({ live: guard, test: guard });
  // The pings of the new subscriptions.
  await whenArrived(receiver, HOSTS + 1);

  const [busy, ...others] = tenants as [TestTenant, ...TestTenant[]];
  await measure(bench, 'warm-up', [busy], MIN_SECONDS / 2);
  const seconds = Math.max(MIN_SECONDS, HOSTS / EVENTS_A_SECOND);
  const rows = [
    await measure(bench, 'one name', [busy], MIN_SECONDS),
    await measure(bench, `${HOSTS} names`, others, seconds),
    await measure(bench, 'one name', [busy], MIN_SECONDS),
  ];
  const [before, hosts, after] = rows.map(({ cpuMs }) => cpuMs) as [number, number, number];
  console.log(textTable([HEADINGS, ...rows.map(({ cells }) => cells)]));
  console.log(
    `CPU per delivery to ${HOSTS} names: ${(hosts / ((before + after) / 2)).toFixed(2)} times that to one`,
  );
}

/** Starts the receiver, and the DNS server with its names, in their own process. */
async function startReceiver(stack: AsyncDisposableStack) {
  const certificate = await issueCertificate(testAuthority, { names: ['*.hosts.example.com'] });
  const receiver = spawn(process.execPath, [fileURLToPath(new URL('hosts-receiver.ts', import.meta.url))], {
    env: {
      ...process.env,
      RECEIVER_CERT: certificate.certificatePem,
      RECEIVER_KEY: certificate.privateKeyPem,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  stack.defer(() => void receiver.kill());
  const [started] = (await once(receiver, 'message')) as [HostsReceiver];
  return { receiver, ...started };
}

async function subscribe(fixture: WebhooksFixture, count: number): Promise<TestTenant[]> {
  const tenants = Array.from({ length: count }, () => ({
    merchantId: crypto.randomUUID(),
    environment: Environment.LIVE,
  }));
  const left = tenants.values();
  const next = async () => {
    for (const tenant of left) await fixture.subscribe(tenant);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, next));
  return tenants;
}

/** Publishes for tenants in round robin, and measures until all events have arrived. */
async function measure(
  { fixture, receiver }: Bench,
  name: string,
  tenants: readonly TestTenant[],
  seconds: number,
) {
  await delay(SETTLE_MS);
  const before = await seenBy(receiver);
  const cpuBefore = cpuSecondsOf();
  const startedAt = performance.now();
  const calls: Promise<unknown>[] = [];
  const count = Math.round(seconds * EVENTS_A_SECOND);
  while (calls.length < count) {
    const due = Math.min(count, Math.ceil(((performance.now() - startedAt) / 1_000) * EVENTS_A_SECOND));
    while (calls.length < due) calls.push(fixture.publish(tenants[calls.length % tenants.length]!));
    await delay(1);
  }
  await Promise.all(calls);
  await whenArrived(receiver, before.requests + count);
  const cpu = cpuSecondsOf();
  const seen = await seenBy(receiver);
  const connections = seen.connections - before.connections;
  const servicesMs = ((cpu.services - cpuBefore.services) * 1_000) / count;
  const cpuMs = servicesMs + ((cpu.postgres - cpuBefore.postgres) * 1_000) / count;
  const resumed =
    connections === 0 ? '' : `${(((seen.resumed - before.resumed) / connections) * 100).toFixed(0)} %`;
  const rss = (process.memoryUsage().rss / 1_048_576).toFixed(0);
  const cells = [name, `${count}`, cpuMs.toFixed(2), servicesMs.toFixed(2), `${connections}`, resumed, rss];
  return { cpuMs, cells };
}

function cpuSecondsOf() {
  const { user, system } = process.cpuUsage();
  return { services: (user + system) / 1e6, postgres: cpuSeconds(process.pid).postgres ?? 0 };
}

async function seenBy(receiver: ChildProcess): Promise<HostsSeen> {
  receiver.send('seen');
  const [seen] = (await once(receiver, 'message')) as [HostsSeen];
  return seen;
}

async function whenArrived(receiver: ChildProcess, count: number): Promise<void> {
  const giveUpAt = performance.now() + 120_000;
  for (;;) {
    const { requests } = await seenBy(receiver);
    if (requests >= count) return;
    if (performance.now() > giveUpAt) throw new Error(`${requests} of ${count} requests arrived`);
    await delay(100);
  }
}
