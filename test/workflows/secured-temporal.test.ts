import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { issueCertificate } from '../../local/certificates.ts';
import { findFreePort } from '../../local/ports.ts';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { readTemporalConnection } from '../../workflows/temporal/temporal-connection.ts';
import { type LanesFixture, startLanesFixture } from '../services/webhooks/lanes-fixture.ts';
import { newTenant } from '../support/harness.ts';
import { type MutualTlsProxy, startMutualTlsProxy } from '../support/mutual-tls-proxy.ts';
import { startRuntime } from '../support/runtime-process.ts';
import { TEMPORAL_START_MS, type TestNamespace } from '../support/temporal.ts';
import { createTestNamespace } from '../support/temporal-namespace.ts';
import { testAuthority } from '../support/tls-receiver.ts';

const SOON = { timeout: 40_000, interval: 50 };

let temporal: TestNamespace;
let proxy: MutualTlsProxy;
let webhooks: LanesFixture;
let folder: string;
beforeAll(async () => {
  temporal = await createTestNamespace();
  proxy = await startMutualTlsProxy(Number(temporal.address.split(':')[1]), testAuthority);
  webhooks = await startLanesFixture({ WEBHOOK_SCHEDULE_SANDBOX: `0s${',200ms'.repeat(50)}` });
  folder = await mkdtemp(join(tmpdir(), 'temporal-tls-'));
  await writeFile(join(folder, 'ca.pem'), testAuthority.certificatePem);
}, TEMPORAL_START_MS);
afterAll(async () => {
  await webhooks?.[Symbol.asyncDispose]();
  await proxy?.[Symbol.asyncDispose]();
  await temporal?.[Symbol.asyncDispose]();
  if (folder) await rm(folder, { recursive: true });
});

/** The worker as operations run it, against the proxy. */
async function startWorker(security: Record<string, string>) {
  const port = await findFreePort();
  const worker = startRuntime('workflows/main.ts', {
    SERVICES_URL: webhooks.harness.baseUrl,
    SERVICE_TOKEN: webhooks.harness.token,
    TEMPORAL_ADDRESS: proxy.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    OPS_PORT: `${port}`,
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(folder, 'ca.pem'),
    ...security,
  });
  return { ...worker, readiness: async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status };
}

const clientCertificate = () => ({
  TEMPORAL_TLS_CLIENT_CERT_PATH: join(folder, 'client.pem'),
  TEMPORAL_TLS_CLIENT_KEY_PATH: join(folder, 'client.key'),
});

/** Replaces the files; returns the certificate's fingerprint. */
async function writeClientCertificate(): Promise<string> {
  const pair = await issueCertificate(testAuthority, { names: ['worker'], holder: 'client' });
  await writeFile(join(folder, 'client.pem'), pair.certificatePem);
  await writeFile(join(folder, 'client.key'), pair.privateKeyPem);
  return new X509Certificate(pair.certificatePem).fingerprint256;
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

it('a worker with a client certificate runs workflows, and takes a replaced one without a restart', async () => {
  const first = await writeClientCertificate();
  const worker = await startWorker(clientCertificate());
  await vi.waitFor(async () => expect(await worker.readiness()).toBe(200), SOON);
  await retriesADelivery();
  expect([...proxy.clients]).toEqual([first]);
  const second = await writeClientCertificate();
  await vi.waitFor(() => expect([...proxy.clients]).toEqual([first, second]), SOON);
  await retriesADelivery();
  worker.child.kill('SIGTERM');
  expect(await worker.exited).toEqual({ exitCode: 0, stderr: '' });
}, 90_000);

it('a worker without a client certificate does not become ready, and its log names the cause', async () => {
  const worker = await startWorker({});
  await vi.waitFor(() => expect(worker.logged()).toContain('Temporal is unavailable'), SOON);
  expect(worker.logged()).toMatch(/no TLS connection to Temporal: .*certificate required/);
  expect(await worker.readiness()).toBe(503);
}, 60_000);

it('an API key is sent over TLS, also when TEMPORAL_TLS is absent', async () => {
  const shown: (string | undefined)[] = [];
  const { certificatePem, privateKeyPem } = await issueCertificate(testAuthority, {
    names: ['cloud.example'],
  });
  const server = createSecureServer({ cert: certificatePem, key: privateKeyPem });
  server.on('stream', (stream, { authorization }) => {
    shown.push(authorization);
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' },
      { endStream: true },
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const options = await readTemporalConnection(`localhost:${(server.address() as AddressInfo).port}`, {
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(folder, 'ca.pem'),
      TEMPORAL_TLS_SERVER_NAME: 'cloud.example',
      TEMPORAL_API_KEY: 'key-1',
    });
    await expect(NativeConnection.connect(options)).rejects.toThrow();
    expect(new Set(shown)).toEqual(new Set(['Bearer key-1']));
    const byDefault = await readTemporalConnection('cloud.example:7233', { TEMPORAL_API_KEY: 'key-1' });
    expect(byDefault).toEqual({ address: 'cloud.example:7233', tls: {}, apiKey: 'key-1' });
  } finally {
    server.close();
  }
});
