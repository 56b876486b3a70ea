import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { findFreePort } from '../../local/ports.ts';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { RefundCaseStatus } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { DeliveryStatus } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { workflowId, workflowType } from '../../services/contracts/refunds/refund-hold.contract.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { createDataConverter, type PayloadConfig } from '../../workflows/temporal/data-converter.ts';
import { TASK_QUEUE } from '../../workflows/temporal/task-queue.ts';
import { bundleFile, workflowBundleOf } from '../../workflows/workflow-bundle.ts';
import { type LanesFixture, startLanesFixture } from '../services/webhooks/lanes/lanes-fixture.ts';
import { newTenant } from '../support/harness.ts';
import type { Program } from '../support/program.ts';
import { startRuntime } from '../support/runtime-process.ts';
import { TEMPORAL_START_MS, type TestNamespace, temporalProgram } from '../support/temporal.ts';
import { createTestNamespace } from '../support/temporal-namespace.ts';
import { merchantOf } from './refunds/refund-harness.ts';

const SOON = { timeout: 60_000, interval: 50 };

let webhooks: LanesFixture;
let temporal: TestNamespace;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'payloads-'));
  [webhooks, temporal] = await Promise.all([
    startLanesFixture({ WEBHOOK_SCHEDULE_SANDBOX: `0s${',200ms'.repeat(50)}` }),
    createTestNamespace(),
    bundleForCodecs(),
  ]);
}, TEMPORAL_START_MS);
afterAll(async () => {
  await webhooks?.[Symbol.asyncDispose]();
  await temporal?.[Symbol.asyncDispose]();
  if (folder) await rm(folder, { recursive: true });
});

/** Bundles the workflow code that encodes failures, once for all workers: as a worker without WORKFLOW_BUNDLE_DIR does. */
async function bundleForCodecs(): Promise<void> {
  const bundle = await workflowBundleOf({ TEMPORAL_PAYLOAD_KEYS_PATH: folder });
  await writeFile(join(folder, bundleFile(true)), (bundle as { code: string }).code);
}

/** The worker as operators run it, until the test ends or it is stopped. */
async function startWorker(namespace: TestNamespace, settings: Record<string, string>): Promise<Program> {
  const port = await findFreePort();
  const worker = startRuntime('workflows/main.ts', {
    SERVICES_URL: webhooks.harness.baseUrl,
    SERVICE_TOKEN: webhooks.harness.token,
    TEMPORAL_ADDRESS: namespace.address,
    TEMPORAL_NAMESPACE: namespace.namespace,
    OPS_PORT: `${port}`,
    WORKFLOW_BUNDLE_DIR: folder,
    ...settings,
  });
  const ready = async () => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  await vi.waitFor(ready, SOON);
  return worker;
}

/** A delivery whose endpoint fails until `recover`, which resolves once it has been delivered. */
async function failingDelivery() {
  const tenant = newTenant(Environment.TEST);
  const { endpoint } = await webhooks.subscribed(tenant);
  endpoint.answer(503);
  await webhooks.publish(tenant);
  await vi.waitFor(() => expect(endpoint.eventIds.length).toBeGreaterThan(2), SOON);
  const { deliveries } = await webhooks.deliveries.listDeliveries(tenant);
  return {
    workflowId: `delivery-${deliveries.find(({ status }) => status === DeliveryStatus.RETRYING)!.id}`,
    async recover() {
      endpoint.answer(200);
      await vi.waitFor(async () => expect(await webhooks.statuses(tenant)).toEqual(['SUCCEEDED']), SOON);
    },
  };
}

/** What the server stores about all workflows of the namespace: encodings of payloads, and messages of failures. */
async function storedBy({ client, namespace }: TestNamespace) {
  const encodings = new Set<string>();
  const keyIds = new Set<string>();
  const messages = new Set<string>();
  const collect = (value: unknown): void => {
    const { markerName } = (value ?? {}) as { markerName?: string };
    // The SDK's own record of a patch: its name.
    if (markerName === 'core_patch') return;
    // The SDK's own record of a local activity: its name and times.
    if (markerName === 'core_local_activity') {
      const { result } = (value as { details: Record<string, unknown> }).details;
      collect(result);
      return;
    }
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
    const { metadata, message, encodedAttributes } = value as Record<string, unknown>;
    const { encoding, 'encryption-key-id': keyId } = (metadata ?? {}) as Record<string, Uint8Array>;
    if (encoding) encodings.add(Buffer.from(encoding).toString());
    if (keyId) keyIds.add(Buffer.from(keyId).toString());
    if (encodedAttributes || 'stackTrace' in value) messages.add(String(message));
    for (const [name, child] of Object.entries(value)) {
      // Temporal indexes the ones, and the SDK encodes neither: headers name the request that caused a workflow.
      if (name !== 'searchAttributes' && name !== 'header') collect(child);
    }
  };
  const types = new Set<string>();
  const { executions } = await client.workflowService.listWorkflowExecutions({ namespace });
  for (const execution of executions) {
    types.add(execution.type!.name!);
    collect(execution);
    const { workflowId: id, runId } = execution.execution!;
    collect(await client.workflow.getHandle(id!, runId!).fetchHistory());
  }
  return { types, encodings, keyIds, messages };
}

const newKey = (version: number) => `v${version}:${randomBytes(32).toString('base64')}`;

const UI_URL = 'https://temporal.example';

/** Reads payloads as the worker does. */
async function codecClient({ client }: TestNamespace, settings: PayloadConfig): Promise<Client> {
  const dataConverter = await createDataConverter(settings, createLogger('silent'));
  return new Client({
    ...client.options,
    connection: client.connection,
    ...(dataConverter && { dataConverter }),
  });
}

async function startCodecServer(settings: Record<string, string>) {
  const port = await findFreePort();
  const { namespace } = temporal;
  const server = startRuntime('workflows/codec-server.ts', {
    ...settings,
    CODEC_PORT: `${port}`,
    TEMPORAL_NAMESPACE: namespace,
    TEMPORAL_UI_URL: UI_URL,
  });
  await vi.waitFor(() => expect(server.logged()).toContain('listening'), SOON);
  return { url: `http://127.0.0.1:${port}` };
}

/** A codec as an operator may write it. */
const OWN_CODEC = `
const flip = (data) => Uint8Array.from(data).reverse();
const text = new TextDecoder();
export const payloadCodec = {
  encode: async (payloads) =>
    payloads.map(({ metadata, data }) => ({
      metadata: { encoding: new TextEncoder().encode('binary/reversed'), inner: metadata.encoding },
      data: data && flip(data),
    })),
  decode: async (payloads) =>
    payloads.map((payload) =>
      text.decode(payload.metadata.encoding) === 'binary/reversed'
        ? { metadata: { encoding: payload.metadata.inner }, data: payload.data && flip(payload.data) }
        : payload,
    ),
};
`;

/** The payloads of a history that the command line of Temporal shows. */
async function showPayloads(id: string, ...more: string[]): Promise<string> {
  const { address, namespace } = temporal;
  const common = ['--address', address, '--namespace', namespace, '--workflow-id', id, '--output', 'json'];
  const { stdout } = await promisify(execFile)(await temporalProgram(), [
    'workflow',
    'show',
    ...common,
    ...more,
  ]);
  const data = [...stdout.matchAll(/"data": "([^"]*)"/g)].map(([, base64]) => Buffer.from(base64!, 'base64'));
  return data.join('\n');
}

it('Temporal gets no plain text of workflows; keys are replaced while workflows run', async () => {
  const keysFile = join(folder, 'payload-keys');
  const [first, second] = [newKey(1), newKey(2)];
  await writeFile(keysFile, `${first}\n`);
  const settings = { TEMPORAL_PAYLOAD_KEYS_PATH: keysFile };
  const worker = await startWorker(temporal, settings);
  const before = await failingDelivery();
  const { earn, approved, start, becomes } = merchantOf(webhooks.harness);
  const refundCaseId = await approved(400n, await earn(1_000n));
  await start(refundCaseId);
  await becomes(refundCaseId, RefundCaseStatus.PROCESSING);
  const input = { ...newTenant(), environment: 'live', refundCaseId: randomUUID() };
  const client = await codecClient(temporal, settings);
  const failing = client.workflow.execute(workflowType, {
    workflowId: workflowId(input.refundCaseId),
    taskQueue: TASK_QUEUE,
    args: [input],
  });
  // With the keys, the failure can be read.
  await expect(failing).rejects.toMatchObject({ cause: { cause: { type: 'REFUND_CASE_NOT_FOUND' } } });

  await writeFile(keysFile, `${second}\n${first}\n`);
  await vi.waitFor(() => expect(worker.logged()).toContain('credential files have been replaced'), SOON);
  const after = await failingDelivery();
  await before.recover();
  await after.recover();

  const kept = await storedBy(temporal);
  expect([...kept.types]).toEqual(expect.arrayContaining([workflowType, 'executeRefund', 'retryDelivery']));
  expect(kept).toMatchObject({
    encodings: new Set(['binary/encrypted']),
    keyIds: new Set(['v1', 'v2']),
    messages: new Set(['Encoded failure']),
  });

  const { workflowId: id } = before;
  expect(await showPayloads(id)).not.toContain('"subscriptionId":');
  const codec = await startCodecServer(settings);
  expect(await showPayloads(id, '--codec-endpoint', codec.url)).toContain('"subscriptionId":');
  for (const body of [
    'null',
    '[]',
    '{"payloads":[null]}',
    '{"payloads":{}}',
    '{"payloads":[{"metadata":1}]}',
  ]) {
    const { status } = await fetch(`${codec.url}/decode`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-namespace': temporal.namespace },
      body,
    });
    expect(status, body).toBe(400);
  }
  const decode = (origin: string) =>
    fetch(`${codec.url}/decode`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
  const allowed = async (origin: string) => (await decode(origin)).headers.get('access-control-allow-origin');
  expect(await allowed(UI_URL)).toBe(UI_URL);
  expect(await allowed('https://elsewhere.example')).not.toBe('https://elsewhere.example');
}, 180_000);

it("an operator's codec encodes payloads", async () => {
  const module = join(folder, 'codec.mjs');
  await writeFile(module, OWN_CODEC);
  await using namespace = await createTestNamespace();
  await startWorker(namespace, { TEMPORAL_PAYLOAD_CODEC: module });
  await (await failingDelivery()).recover();
  expect(await storedBy(namespace)).toMatchObject({
    encodings: new Set(['binary/reversed']),
    keyIds: new Set(),
  });
}, 120_000);
