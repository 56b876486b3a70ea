import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createAuthority } from '../../local/certificates.ts';
import { AccountService } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { RefundCaseService, RefundInitiator } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  DeliveryStatus,
  WebhookSubscriptionState,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { DAY_MS } from '../../services/platform/durations.ts';
import { KEY_RINGS, readConfig } from '../../services/platform/process/config.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { errorInfoOf } from '../../services/platform/rpc/connect-errors.ts';
import { connectServices, openRpcTls } from '../../services/platform/rpc/connect-services.ts';
import { ALL_SCOPES } from '../gateway/gateway-harness.ts';
import { call } from '../gateway/http-call.ts';
import { expectRefusal } from '../support/expect-refusal.ts';
import { newTenant, newWrite } from '../support/harness.ts';
import { scrape } from '../support/scrape.ts';
import { TEMPORAL_START_MS } from '../support/temporal.ts';
import { type Receiver, startReceiver } from '../support/tls-receiver.ts';
import { CertificateFolder, uriOf } from './mutual-tls/certificate-folder.ts';
import { MutualTlsSystem } from './mutual-tls/mutual-tls-system.ts';
import { SandboxMerchant } from './sandbox-merchant.ts';

/** Files are read every five seconds, and refused at the second read. */
const SOON = { timeout: 60_000, interval: 100 };
const PROTOCOLS = ['grpc', 'connect'] as const;
const OWN_PROCESSES = ['services', 'gateway', 'worker'] as const;
/** Includes the dashboard in the gateway, and the client of this test. */
const NAMES = [...OWN_PROCESSES, 'dashboard', 'test'] as const;
const CLIENT = { holder: 'client' } as const;

let receiver: Receiver;
let system: MutualTlsSystem;
beforeAll(async () => {
  const attempted = new Set<string>();
  // The first attempt of each event fails, so that the worker requests the second with its own RPCs.
  receiver = await startReceiver((incoming, response) => {
    const id = String(incoming.headers['webhook-id']);
    const { type } = JSON.parse(String(receiver.requests.at(-1)!.body));
    response.writeHead(type === 'webhook.ping.v1' || attempted.has(id) ? 204 : 503).end();
    attempted.add(id);
  });
  system = await MutualTlsSystem.start();
}, TEMPORAL_START_MS);
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
});

const tenant = newTenant(Environment.TEST);
const openCase = (transport: Transport) =>
  createClient(RefundCaseService, transport).openRefundCase({
    ...newWrite(tenant),
    paymentIntentId: randomUUID(),
    amountMinor: 100n,
    paidAmountMinor: 100n,
    initiator: RefundInitiator.MERCHANT,
    reason: 'broken',
  });
const listCases = async (transport: Transport) =>
  (await createClient(RefundCaseService, transport).listRefundCases(tenant)).refundCases;

/** Expects a call to fail on its connection: no service has answered. */
async function expectNoConnection(transport: Transport): Promise<void> {
  const error = await openCase(transport).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConnectError);
  expect(errorInfoOf(error)).toBeUndefined();
}

it('refuses clients without the certificate of a known caller, over gRPC and Connect, and executes nothing', async () => {
  const { certificates } = system;
  const names = [uriOf('test')];
  await certificates.issue('foreign', { names, ...CLIENT }, await createAuthority());
  await certificates.issue('expired', { names, ...CLIENT, notAfter: new Date(Date.now() - DAY_MS) });
  await certificates.issue('of-a-server', { names, holder: 'server' });
  await certificates.issue('unknown', { names: [uriOf('nobody')], ...CLIENT });
  await certificates.issue('nameless', { names: ['test'], ...CLIENT });
  await certificates.issue('ambiguous', { names: [uriOf('test'), uriOf('reader')], ...CLIENT });
  await certificates.issue('reader', { names: [uriOf('reader')], ...CLIENT });
  for (const protocol of PROTOCOLS) {
    for (const name of [undefined, 'foreign', 'expired', 'of-a-server'])
      await expectNoConnection(system.transport(protocol, name));
    for (const name of ['unknown', 'nameless', 'ambiguous']) {
      await expectRefusal(
        openCase(system.transport(protocol, name)),
        Code.Unauthenticated,
        'CERTIFICATE_UNKNOWN',
      );
    }
    const missing = { grant: 'refunds:write' };
    const byReader = openCase(system.transport(protocol, 'reader'));
    await expectRefusal(byReader, Code.PermissionDenied, 'GRANT_MISSING', missing);
  }
  const withoutTls = { baseUrl: system.baseUrl.replace('https', 'http'), httpVersion: '1.1' } as const;
  await expectNoConnection(createConnectTransport(withoutTls));
  const headers = { authorization: 'Bearer mps_unknown' };
  const byCertificate = createClient(RefundCaseService, system.transport('grpc', 'test'));
  const withToken = byCertificate.listRefundCases(tenant, { headers });
  await expectRefusal(withToken, Code.Unauthenticated, 'SERVICE_TOKEN_INVALID');
  expect(await listCases(system.transport('grpc', 'reader'))).toEqual([]);
  const refusals = await scrape(system.opsUrls.services);
  for (const cause of [
    'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'CERT_HAS_EXPIRED',
    'INVALID_PURPOSE',
  ]) {
    expect([cause, refusals(`payments_rpc_tls_refusals_total{cause="${cause}"}`)]).toEqual([
      cause,
      expect.any(Number),
    ]);
    expect(system.processes.services.logged()).toContain(cause);
  }
}, 120_000);
it('a client refuses services whose certificate has another name or is of another authority', async () => {
  const at = async (host: string, settings: Record<string, string>) => {
    const SERVICES_URL = system.baseUrl.replace('localhost', host);
    const own = { ...system.certificates.settings('test'), ...settings };
    const config = readConfig(own, { unused: KEY_RINGS });
    const files = openRpcTls(config, createLogger('silent'));
    return listCases(connectServices({ ...config, SERVICES_URL }, files));
  };
  expect(await at('127.0.0.1', { RPC_TLS_SERVER_NAME: 'localhost' })).toEqual([]);
  await expect(at('127.0.0.1', {})).rejects.toMatchObject({
    code: Code.Unavailable,
    rawMessage: expect.stringContaining("IP: 127.0.0.1 is not in the cert's list"),
  });
  const { certificatePem } = await createAuthority();
  await system.certificates.write('test', 'other-ca.crt', certificatePem);
  const RPC_TLS_CA_CERT_PATH = system.certificates.path('test', 'other-ca.crt');
  await expect(at('localhost', { RPC_TLS_CA_CERT_PATH })).rejects.toMatchObject({ code: Code.Unavailable });
});

/** Makes calls one after the other until the signal. */
async function repeat(name: string, calling: () => Promise<unknown>, signal: AbortSignal) {
  const failures: string[] = [];
  let calls = 0;
  while (!signal.aborted) {
    await calling().catch((error: unknown) => failures.push(String(error)));
    calls += 1;
    await delay(25);
  }
  return { name, isMuch: calls > 200, failures };
}

/** A page that the dashboard makes for a session, by its own certificate. */
async function accountPage(transport: Transport): Promise<Response> {
  const token = randomBytes(32).toString('base64url');
  await createClient(AccountService, transport).startSession({
    issuer: 'https://issuer.example',
    subject: randomUUID(),
    email: 'ana@people.example',
    emailVerified: true,
    name: 'Ana',
    tokenSha256: createHash('sha256').update(token).digest(),
    ipAddress: '203.0.113.7',
    userAgent: 'test',
  });
  const headers = { cookie: `__Host-session=${token}` };
  return fetch(`${system.dashboardUrl}/account`, { headers, redirect: 'manual' });
}

/** A key of the public API, which the gateway checks with its own call. */
async function sandboxKey(transport: Transport): Promise<string> {
  const request = { ...newWrite(tenant), name: 'Shop', scopes: [...ALL_SCOPES] };
  return (await createClient(ApiKeyService, transport).issueApiKey(request)).key;
}

async function getCases(key: string): Promise<void> {
  const { status, text } = await call(system.sandboxPort, '/v1/refund-cases', { key });
  if (status !== 200) throw new Error(`${status}: ${text}`);
}

/** Waits until our own processes use the replaced files. */
const replacedOnAll = (times: number) =>
  vi.waitFor(
    () => expect(OWN_PROCESSES.map((role) => system.replacements(role))).toEqual([times, times, times]),
    SOON,
  );

const refusedFiles = async () =>
  (await scrape(system.opsUrls.services))('payments_credential_files_refused{files="rpc"}');

it('no call fails while authority, certificates and keys are replaced under load', async () => {
  const { certificates } = system;
  const transport = system.replaceableTransport('test');
  const merchant = await SandboxMerchant.subscribe(transport, receiver);
  await merchant.becomes(WebhookSubscriptionState.ACTIVE, SOON.timeout);
  const key = await sandboxKey(transport);
  expect((await accountPage(transport)).status).toBe(200);
  let grpc = system.grpcJs('test');
  const stopping = new AbortController();
  const load = [
    repeat('gateway', () => getCases(key), stopping.signal),
    repeat('Connect', () => listCases(transport), stopping.signal),
    repeat('gRPC', () => listCases(grpc), stopping.signal),
  ];
  /** Services, worker, services, with the certificates of this moment. */
  const journey = async () => {
    grpc = system.grpcJs('test');
    await merchant.delivery(await merchant.publish(), DeliveryStatus.SUCCEEDED, SOON.timeout);
  };
  await journey();
  await using fresh = await CertificateFolder.create();
  await fresh.issue('test', { names: [uriOf('test')], ...CLIENT });
  const [former, authority] = [
    await certificates.read('authority', 'ca.crt'),
    await fresh.read('authority', 'ca.crt'),
  ];

  for (const name of NAMES) await certificates.write(name, 'ca.crt', `${former}${authority}`);
  await replacedOnAll(1);
  await journey();

  const copy = async (name: string, file: string) =>
    certificates.write(name, file, await fresh.read(name, file));
  await copy('services', 'tls.crt');
  const { logged } = system.processes.services;
  await vi.waitFor(() => expect(logged()).toContain('credential files cannot be used'), SOON);
  expect(await refusedFiles()).toBe(1);
  await copy('services', 'tls.key');
  for (const name of NAMES) for (const file of ['tls.crt', 'tls.key']) await copy(name, file);
  await replacedOnAll(2);
  expect(await refusedFiles()).toBe(0);
  await journey();

  for (const name of NAMES) await certificates.write(name, 'ca.crt', authority);
  await replacedOnAll(3);
  await journey();
  await expect.poll(() => system.replacements('gateway', 'dashboard-rpc')).toBe(3);
  expect((await accountPage(transport)).status).toBe(200);
  stopping.abort();
  expect(await Promise.all(load)).toEqual(
    ['gateway', 'Connect', 'gRPC'].map((name) => ({ name, isMuch: true, failures: [] })),
  );
  // Its certificate is of the former authority.
  await expectNoConnection(system.transport('grpc', 'reader'));
}, 180_000);
