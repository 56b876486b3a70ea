import { randomBytes } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { AccountService, Role as MemberRole } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { call } from '../gateway/http-call.ts';
import { newWrite } from '../support/harness.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';
import { startProvider, type TestProvider } from '../support/provider-server.ts';
import { TEMPORAL_START_MS } from '../support/temporal.ts';
import { TemporalCertificates } from '../support/temporal-certificates.ts';
import type { Receiver } from '../support/tls-receiver.ts';
import { type SmtpInbox, startSmtpInbox } from '../workflows/accounts/smtp-inbox.ts';
import type { SandboxMerchant } from './sandbox-merchant.ts';
import { releaseAdvance } from './separate-processes/advance.ts';
import { DashboardPerson } from './separate-processes/dashboard-person.ts';
import { apiReads, Load } from './separate-processes/load.ts';
import { beginMoneyFlows } from './separate-processes/money.ts';
import { historiesOf } from './separate-processes/secrets.ts';
import { type Role, SeparateSystem, STOP_DELAY_MS } from './separate-processes/separate-system.ts';
import { openShop, type RetriedReceiver, startRetriedReceiver } from './separate-processes/shop.ts';

const ROLES: readonly Role[] = ['services', 'gateway', 'worker', 'webhook-lanes'];
/** Two of each role, and a third worker. */
const PROCESSES = [...ROLES, ...ROLES, 'worker'] as const;
/** Far less than the lease of a workflow command, which is 30 seconds, even on a busy machine. */
const WITHOUT_A_LEASE_MS = 20_000;
/** That lease, and the delay of a busy machine. */
const AFTER_A_KILL_MS = 150_000;
/** A client uses a connection until it has read that the other end closed it, which takes two hops here. */
const CLOSE_SEEN_MS = 1_000;
const SOON = { timeout: 20_000 };
const JWT = /eyJ[\w-]{10,}\.eyJ[\w-]{10,}\./;
const newSecret = () => randomBytes(24).toString('base64url');
const COLLECTOR_TOKEN = newSecret();
const MAIL_ACCOUNT = { user: 'payments', password: newSecret() };
/** As it is sent to the mail server. */
const MAIL_SIGN_IN = Buffer.from(`\0${MAIL_ACCOUNT.user}\0${MAIL_ACCOUNT.password}`).toString('base64');
const COLLEAGUE = 'bia@shop.example';

let system: SeparateSystem;
let receiver: Receiver;
let collector: Awaited<ReturnType<typeof startOtlpReceiver>>;
let provider: TestProvider;
let inbox: SmtpInbox;
let certificates: TemporalCertificates;
let person: DashboardPerson;
let merchant: SandboxMerchant;
let load: Load;
let key: string;
let deliveredAt: RetriedReceiver['deliveredAt'];

beforeAll(async () => {
  ({ receiver, deliveredAt } = await startRetriedReceiver());
  collector = await startOtlpReceiver(`Bearer ${COLLECTOR_TOKEN}`);
  provider = await startProvider();
  person = await DashboardPerson.create();
  inbox = await startSmtpInbox(MAIL_ACCOUNT);
  certificates = await TemporalCertificates.create();
  const settings = {
    ...person.settings,
    SMTP_URL: inbox.url,
    ...provider.settings,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${COLLECTOR_TOKEN}`,
    OTEL_TRACES_SAMPLER_ARG: '1',
  };
  const worker = { ...certificates.settings, TEMPORAL_API_KEY: newSecret() };
  system = await SeparateSystem.open(settings, { security: { tls: certificates.server, worker } });
  await Promise.all(PROCESSES.map((role) => system.start(role)));
  ({ merchant, key } = await openShop(system, receiver));
  await person.join(system, merchant.tenant);
  await createClient(AccountService, system.transport).inviteMember({
    ...newWrite(merchant.tenant),
    email: COLLEAGUE,
    role: MemberRole.VIEWER,
  });
  load = new Load({
    gateways: system.gateways,
    reads: [...apiReads(key, '/v1/refund-cases', '/v1/advance/requests'), person.read('/advances')],
    publish: () => merchant.publish(),
  });
}, TEMPORAL_START_MS);
afterAll(async () => {
  await load?.stop().catch(() => undefined);
  await system?.[Symbol.asyncDispose]();
  const outside = [receiver, collector, provider, inbox, certificates, person];
  for (const each of outside) await each?.[Symbol.asyncDispose]();
});

/** Waits until all events that were published have been delivered. @returns the longest that one took. */
async function slowestDelivery(from: number): Promise<number> {
  const events = [...load.published].filter(([, at]) => at >= from);
  await vi.waitFor(() => expect(events.filter(([id]) => !deliveredAt.has(id))).toEqual([]), {
    timeout: AFTER_A_KILL_MS,
    interval: 50,
  });
  return Math.max(...events.map(([id, at]) => deliveredAt.get(id)! - at));
}

const distinctMessages = (failures: Load['failures']) => [
  ...new Set(failures.map(({ what }) => what.slice(0, 200))),
];

it('gateways share rate limits, and their responses contain public addresses', async () => {
  const gateways = [...system.running].filter(({ role }) => role === 'gateway');
  for (const { backend } of gateways) {
    // Available from the first request on.
    await vi.waitFor(async () => {
      const { text } = await call(backend.opsPort, '/metrics');
      expect(text.includes('payments_rate_limit_store_up{environment="test"} 1')).toBe(true);
    }, SOON);
  }
  const { status, json } = await call(system.gateways.next().port, '/v1/refund-cases');
  expect([status, json.type]).toEqual([401, expect.stringMatching(/^http:\/\/127\.0\.0\.1:8081\//)]);
});

it.each(ROLES)('no request fails and no delivery waits for a lease when one of %s stops', async (role) => {
  await load.moreEvents(5);
  const [failed, from] = [load.failures.length, Date.now()];
  const stopping = system.one(role);
  const ended = system.stop(stopping);
  if (STOP_DELAY_MS > 0 && (role === 'services' || role === 'gateway')) {
    const readyz = () => fetch(`http://127.0.0.1:${stopping.backend.opsPort}/readyz`);
    await vi.waitFor(async () => expect((await readyz()).status).toBe(503), { interval: 20 });
  }
  expect(await ended).toEqual({ exitCode: 0, stderr: '' });
  await load.moreEvents(10);
  expect(distinctMessages(load.failures.slice(failed))).toEqual([]);
  await load.sparsely(() => system.start(role));
  expect(await slowestDelivery(from)).toBeLessThan(WITHOUT_A_LEASE_MS);
  expect(distinctMessages(load.failures.slice(failed))).toEqual([]);
});

it(
  'when one of each role is killed, only requests in flight fail, all events are delivered and all money moves once',
  async () => {
    await load.moreEvents(5);
    const advance = await releaseAdvance({ system, person, provider, tenant: merchant.tenant });
    const flows = await beginMoneyFlows(system, provider);
    const [failed, from] = [load.failures.length, Date.now()];
    const victims = ROLES.map((role) => system.one(role));
    await Promise.all(victims.map((victim) => system.kill(victim)));
    const killedAt = Date.now();
    // Those that are left do it all.
    await load.moreEvents(10);
    const backends = victims.map(({ backend }) => backend);
    for (const { what, backend, startedAt } of load.failures.slice(failed)) {
      expect(backend === undefined || backends.includes(backend), what).toBe(true);
      expect(startedAt, what).toBeLessThanOrEqual(killedAt + CLOSE_SEEN_MS);
    }
    await slowestDelivery(from);
    await advance.isPaidOut(AFTER_A_KILL_MS);
    await flows.end(AFTER_A_KILL_MS);
  },
  2 * AFTER_A_KILL_MS,
);

it(
  'the load covered many requests, every event was delivered, and no file of the image has changed',
  async () => {
    await load.stop();
    await slowestDelivery(0);
    expect(load.requests).toBeGreaterThan(500);
    expect(await system.image.changed()).toEqual([]);
  },
  2 * AFTER_A_KILL_MS,
);

it('no log, metric, history or trace of the whole run holds a secret', async () => {
  await vi.waitFor(() => expect(inbox.mailTo(COLLEAGUE)).not.toEqual([]), SOON);
  const { count, text: histories } = await historiesOf(system.temporal.client);
  const metrics = await Promise.all(
    [...system.running].map(async ({ backend }) => (await call(backend.opsPort, '/metrics')).text),
  );
  const logs = system.logs.join('');
  // Make sure that the searched texts are there and not encoded.
  const { merchantId } = merchant.tenant;
  for (const text of [logs, histories]) expect(text.includes(merchantId)).toBe(true);
  // Spans arrive some seconds later.
  const traced = [merchantId, 'GET /sign-in/callback', ...ROLES.map((role) => `"payments-${role}"`)];
  const missing = () => traced.filter((text) => !collector.text().includes(text));
  await vi.waitFor(() => expect(missing()).toEqual([]), SOON);
  const traces = collector.text();
  expect(logs.includes('"level":20')).toBe(true);
  // The mail server rejected the first sign-in.
  for (const text of [logs, histories])
    expect(text).toContain('the mail server answered AUTH PLAIN with 535');
  expect(count).toBeGreaterThan(10);
  // The prefixes of keys and secrets are shown on purpose.
  const issued = [key.slice('mpk_test_1234'.length), merchant.secret.slice('whsec_'.length)];
  const secrets = [
    ...[...system.secrets, COLLECTOR_TOKEN, ...issued, ...person.secrets],
    ...[MAIL_SIGN_IN, ...certificates.secrets],
  ];
  expect(secrets.length).toBeGreaterThan(20);
  const searched = { logs, histories, traces, metrics: metrics.join('') };
  const found = Object.entries(searched).flatMap(([where, text]) =>
    secrets.filter((secret) => text.includes(secret)).map((secret) => [where, secret]),
  );
  expect(found).toEqual([]);
  // Nor an ID token, of which only the provider and a gateway know.
  expect(Object.entries(searched).filter(([, text]) => JWT.test(text))).toEqual([]);
});
