import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type CertificatePair, createAuthority, issueCertificate } from '../../local/certificates.ts';
import { findFreePort } from '../../local/ports.ts';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { readTemporalConnection } from '../../workflows/temporal/temporal-connection.ts';
import { type LanesFixture, startLanesFixture } from '../services/webhooks/lanes-fixture.ts';
import { startGrpcProxy } from '../support/grpc-proxy.ts';
import { newTenant } from '../support/harness.ts';
import { type RuntimeProcess, startRuntime } from '../support/runtime-process.ts';
import { TEMPORAL_START_MS, type TestTemporal } from '../support/temporal.ts';
import { createTestNamespace } from '../support/temporal-namespace.ts';
import { startTemporalOnPostgres } from '../support/temporal-on-postgres.ts';
import { testAuthority } from '../support/tls-receiver.ts';

const SOON = { timeout: 60_000, interval: 50 };

let temporal: TestTemporal;
let webhooks: LanesFixture;
let folder: string;
/** The server requires a certificate of its clients. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'temporal-tls-'));
  await writeFile(join(folder, 'ca.pem'), testAuthority.certificatePem);
  const own = await issueCertificate(testAuthority, { names: ['localhost'], holder: 'peer' });
  await write('server', own);
  temporal = await startTemporalOnPostgres({
    tls: {
      caFile: join(folder, 'ca.pem'),
      certificateFile: join(folder, 'server.pem'),
      keyFile: join(folder, 'server.key'),
      client: {
        serverRootCACertificate: Buffer.from(testAuthority.certificatePem),
        clientCertPair: { crt: Buffer.from(own.certificatePem), key: Buffer.from(own.privateKeyPem) },
      },
    },
  });
  webhooks = await startLanesFixture({ WEBHOOK_SCHEDULE_SANDBOX: `0s${',200ms'.repeat(50)}` });
}, TEMPORAL_START_MS);
afterAll(async () => {
  await webhooks?.[Symbol.asyncDispose]();
  await temporal?.[Symbol.asyncDispose]();
  if (folder) await rm(folder, { recursive: true });
});

async function write(name: string, { certificatePem, privateKeyPem }: CertificatePair): Promise<void> {
  await writeFile(join(folder, `${name}.pem`), certificatePem);
  await writeFile(join(folder, `${name}.key`), privateKeyPem);
}

/** Replaces the files of the worker's certificate. */
async function writeClientCertificate(authority = testAuthority): Promise<void> {
  await write('client', await issueCertificate(authority, { names: ['worker'], holder: 'client' }));
}

/** The worker as operators run it. */
async function startWorker(security: Record<string, string>): Promise<RuntimeProcess & Readiness> {
  const port = await findFreePort();
  const worker = startRuntime('workflows/main.ts', {
    SERVICES_URL: webhooks.harness.baseUrl,
    SERVICE_TOKEN: webhooks.harness.token,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    OPS_PORT: `${port}`,
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(folder, 'ca.pem'),
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

const clientCertificate = () => ({
  TEMPORAL_TLS_CLIENT_CERT_PATH: join(folder, 'client.pem'),
  TEMPORAL_TLS_CLIENT_KEY_PATH: join(folder, 'client.key'),
});

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

it('a worker with a client certificate runs workflows, and adopts a replaced certificate without a restart', async () => {
  await writeClientCertificate();
  const worker = await startWorker(clientCertificate());
  await worker.becomes(200);
  await retriesADelivery();
  await writeClientCertificate(await createAuthority());
  await worker.becomes(503);
  await vi.waitFor(
    () => expect(worker.logged()).toMatch(/no TLS connection to Temporal: .*unknown ca/),
    SOON,
  );
  await writeClientCertificate();
  await worker.becomes(200);
  await retriesADelivery();
  worker.child.kill('SIGTERM');
  expect(await worker.exited).toEqual({ exitCode: 0, stderr: '' });
});

it('a worker without a client certificate does not become ready, and its log names the cause', async () => {
  const worker = await startWorker({});
  await vi.waitFor(() => expect(worker.logged()).toContain('Temporal is unavailable'), SOON);
  expect(worker.logged()).toMatch(/no TLS connection to Temporal: .*certificate required/);
  await worker.becomes(503);
});

it('a worker adopts a replaced API key without a new connection, and keeps running when the old key expires', async () => {
  await using shared = await createTestNamespace();
  const certificate = await issueCertificate(testAuthority, { names: ['cloud.example'] });
  await using proxy = await startGrpcProxy(shared.address, certificate);
  const keyFile = join(folder, 'api-key');
  await writeFile(keyFile, 'key-1\n');
  proxy.accept('key-1');
  const worker = await startWorker({
    TEMPORAL_ADDRESS: proxy.address,
    TEMPORAL_NAMESPACE: shared.namespace,
    TEMPORAL_TLS_SERVER_NAME: 'cloud.example',
    TEMPORAL_API_KEY_PATH: keyFile,
  });
  await worker.becomes(200);
  await retriesADelivery();
  expect([...proxy.shown]).toEqual(['key-1']);
  proxy.accept('key-1', 'key-2');
  await writeFile(keyFile, 'key-2\n');
  await vi.waitFor(() => expect([...proxy.shown]).toEqual(['key-1', 'key-2']), SOON);
  proxy.accept('key-2');
  await retriesADelivery();
  expect(worker.logged()).not.toMatch(/reconnects|is unavailable/);
});

it('an API key means TLS', () => {
  const byDefault = readTemporalConnection('cloud.example:7233', { TEMPORAL_API_KEY: 'key-1' });
  expect(byDefault).toEqual({ address: 'cloud.example:7233', tls: {}, apiKey: 'key-1' });
});
