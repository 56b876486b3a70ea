import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createAuthority, issueCertificate } from '../../local/certificates.ts';
import { findFreePort } from '../../local/ports.ts';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { readTemporalConnection } from '../../workflows/temporal/temporal-connection.ts';
import { prepareNamespace } from '../../workflows/temporal/temporal-namespace.ts';
import { openLink } from '../reconciliation/faulty-link.ts';
import { type LanesFixture, startLanesFixture } from '../services/webhooks/lanes/lanes-fixture.ts';
import { startGrpcProxy } from '../support/grpc-proxy.ts';
import { newTenant } from '../support/harness.ts';
import type { Program } from '../support/program.ts';
import { startRuntime } from '../support/runtime-process.ts';
import { TEMPORAL_START_MS, type TestNamespace, type TestTemporal } from '../support/temporal.ts';
import { TemporalCertificates } from '../support/temporal-certificates.ts';
import { createTestNamespace, testWorkflowBundles } from '../support/temporal-namespace.ts';
import { startTemporalOnPostgres } from '../support/temporal-on-postgres.ts';
import { testAuthority } from '../support/tls-receiver.ts';

const { RegisterNamespaceRequest } = proto.temporal.api.workflowservice.v1;
const SOON = { timeout: 60_000, interval: 50 };
/** A worker takes at most nine seconds, and docker compose kills it after twenty. */
const STOPPED_WITHIN_MS = 15_000;

let temporal: TestTemporal;
let webhooks: LanesFixture;
let certificates: TemporalCertificates;
/** The server requires a certificate of its clients. */
beforeAll(async () => {
  certificates = await TemporalCertificates.create();
  temporal = await startTemporalOnPostgres({ tls: certificates.server });
  webhooks = await startLanesFixture({ WEBHOOK_SCHEDULE_SANDBOX: `0s${',200ms'.repeat(50)}` });
}, TEMPORAL_START_MS);
afterAll(async () => {
  await webhooks?.[Symbol.asyncDispose]();
  await temporal?.[Symbol.asyncDispose]();
  await certificates?.[Symbol.asyncDispose]();
});

/** The worker as operators run it. */
async function startWorker(security: Readonly<Record<string, string>>): Promise<Program & Readiness> {
  const port = await findFreePort();
  const worker = startRuntime('workflows/main.ts', {
    SERVICES_URL: webhooks.harness.baseUrl,
    SERVICE_TOKEN: webhooks.harness.token,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    ...testWorkflowBundles(),
    OPS_PORT: `${port}`,
    ...security,
  });
  const becomes = (status: number) =>
    vi.waitFor(
      async () => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(status),
      SOON,
    );
  return { ...worker, becomes };
}

interface Readiness {
  /** Waits until /readyz has this status. */
  becomes(status: number): Promise<void>;
}

/** A delivery fails once; its workflow makes the second attempt. */
async function retriesADelivery(): Promise<void> {
  const tenant = newTenant(Environment.TEST);
  const { endpoint } = await webhooks.subscribed(tenant);
  let answered = 0;
  endpoint.answer((_request, response) => {
    response.writeHead(answered === 0 ? 503 : 200).end();
    answered += 1;
  });
  await webhooks.publish(tenant);
  await vi.waitFor(async () => expect(await webhooks.statuses(tenant)).toEqual(['SUCCEEDED']), SOON);
  expect(answered).toBe(2);
}

it('a worker with a client certificate runs workflows, adopts replaced certificates without a restart, and stops in time', async () => {
  await using link = await openLink(Number(temporal.address.split(':')[1]));
  const worker = await startWorker({ ...certificates.settings, TEMPORAL_ADDRESS: `localhost:${link.port}` });
  const logs = (reason: RegExp) => vi.waitFor(() => expect(worker.logged()).toMatch(reason), SOON);
  await worker.becomes(200);
  await retriesADelivery();
  await certificates.issue('client', await createAuthority());
  await worker.becomes(503);
  await logs(/no TLS connection to Temporal: .*unknown ca/);
  await certificates.issue('client');
  await worker.becomes(200);
  await retriesADelivery();
  // The authority alone, first on the worker's side, then on the server's.
  await certificates.trust(certificates.nextAuthority);
  await worker.becomes(503);
  await logs(/no TLS connection to Temporal: .*(self-signed|unable to verify)/);
  await certificates.issue('server', certificates.nextAuthority);
  await worker.becomes(200);
  // A new connection hangs while it is made.
  link.begin('reset');
  link.begin('drop');
  await logs(/Temporal does not respond/);
  worker.child.kill('SIGTERM');
  const stoppingAt = performance.now();
  expect(await worker.exited).toEqual({ exitCode: 0, stderr: '' });
  expect(performance.now() - stoppingAt).toBeLessThan(STOPPED_WITHIN_MS);
});

it.each([
  'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  // The authorities of the system.
  'SSL_CERT_FILE',
])(
  'a worker without a client certificate that trusts %s does not become ready, and its log names the cause',
  async (authorities) => {
    const { TEMPORAL_TLS_SERVER_CA_CERT_PATH: path } = certificates.settings;
    const worker = await startWorker({ TEMPORAL_TLS: 'true', [authorities]: path });
    await vi.waitFor(() => expect(worker.logged()).toContain('Temporal is unavailable'), SOON);
    expect(worker.logged()).toMatch(/no TLS connection to Temporal: .*certificate required/);
    await worker.becomes(503);
  },
);

/** A proxy that accepts `key-1`, and the settings of a worker that connects to it with this key. */
async function startCloud({ address, namespace }: TestNamespace) {
  const certificate = await issueCertificate(testAuthority, { names: ['cloud.example'] });
  const proxy = await startGrpcProxy(address, certificate);
  const keyFile = join(certificates.folder, 'api-key');
  await certificates.trust(testAuthority);
  await writeFile(keyFile, 'key-1\n');
  proxy.accept('key-1');
  const settings = {
    TEMPORAL_ADDRESS: proxy.address,
    TEMPORAL_NAMESPACE: namespace,
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: certificates.settings.TEMPORAL_TLS_SERVER_CA_CERT_PATH,
    TEMPORAL_TLS_SERVER_NAME: 'cloud.example',
    TEMPORAL_API_KEY_PATH: keyFile,
  };
  return { proxy, keyFile, settings, [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose]() };
}

it('a worker adopts a replaced API key without a new connection, and keeps running when the old key expires', async () => {
  await using shared = await createTestNamespace();
  await using cloud = await startCloud(shared);
  const { proxy, keyFile } = cloud;
  const worker = await startWorker(cloud.settings);
  await worker.becomes(200);
  await retriesADelivery();
  expect([...proxy.shown]).toEqual(['key-1']);
  proxy.accept('key-1', 'key-2');
  await writeFile(keyFile, 'key-2\n');
  await vi.waitFor(() => expect([...proxy.shown]).toEqual(['key-1', 'key-2']), SOON);
  proxy.accept('key-2');
  await retriesADelivery();
  expect(worker.logged()).not.toMatch(/reconnects|is unavailable|cannot prepare/);
});

it('a worker that may not add search attributes names those that are missing, and works once they are there', async () => {
  await using shared = await createTestNamespace();
  const namespace = `test-${randomUUID()}`;
  const connection = shared.client.connection as Connection;
  await connection.workflowService.registerNamespace(
    RegisterNamespaceRequest.fromObject({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 },
    }),
  );
  await using cloud = await startCloud({ ...shared, namespace });
  const worker = await startWorker(cloud.settings);
  await worker.becomes(200);
  expect(worker.logged()).toContain(
    `create in the namespace ${namespace} the search attributes MerchantIds (KeywordList), SubscriptionIds (KeywordList), RequestIds (KeywordList), EventType (Keyword), Environment (Keyword)`,
  );
  await prepareNamespace(connection, namespace);
  await retriesADelivery();
});

it('an API key means TLS', () => {
  const byDefault = readTemporalConnection('cloud.example:7233', { TEMPORAL_API_KEY: 'key-1' });
  expect(byDefault).toEqual({ address: 'cloud.example:7233', tls: {}, apiKey: 'key-1' });
});
