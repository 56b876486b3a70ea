import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { Agent, fetch } from 'undici';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { createAuthority, issueCertificate } from '../../../local/certificates.ts';
import { loadDemoCertificate } from '../../../local/demo/demo-certificate.ts';
import { type ReceivedDelivery, startDemoReceiver } from '../../../local/demo/demo-receiver.ts';
import { DAY_MS } from '../../../services/platform/durations.ts';
import { temporaryDataFolder } from '../temporary-data-folder.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const data = temporaryDataFolder();
const reported: ReceivedDelivery[] = [];

const receiver = await startDemoReceiver({
  folder: data.folder,
  port: 0,
  onDelivery: (delivery) => reported.push(delivery),
});
const dispatcher = new Agent({ connect: { ca: readFileSync(receiver.caFile, 'utf8') } });

afterAll(async () => {
  await receiver.stop();
  await dispatcher.close();
  data[Symbol.dispose]();
});

async function call(method: string, path: string, body?: string, headers = {}): Promise<number> {
  const { status } = await fetch(`${receiver.url}${path}`, { dispatcher, method, body, headers });
  return status;
}

async function deliver(
  path: string,
  id: string,
  { secret = SECRET, body = '{"id":1}' } = {},
): Promise<number> {
  const at = new Date();
  return call('POST', path, body, {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, '{"id":1}'),
  });
}

async function deliveries(path: string): Promise<ReceivedDelivery[]> {
  const response = await fetch(`${receiver.url}/deliveries?path=${path}`, { dispatcher });
  return ((await response.json()) as { deliveries: ReceivedDelivery[] }).deliveries;
}

test('a path accepts every delivery until it has a secret, then only deliveries signed with it', async () => {
  const path = '/webhooks/verified';
  expect(await deliver(path, 'evt_1')).toBe(204);
  expect(await call('PUT', `/secrets?path=${path}`, SECRET)).toBe(204);
  expect(await deliver(path, 'evt_2')).toBe(204);
  const otherSecret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
  expect(await deliver(path, 'evt_3', { secret: otherSecret })).toBe(401);
  expect(await deliver(path, 'evt_4', { body: '{"id":2}' })).toBe(401);
  const found = await deliveries(path);
  expect(found.map(({ webhookId, verified, answered }) => [webhookId, verified, answered])).toEqual([
    ['evt_4', false, 401],
    ['evt_3', false, 401],
    ['evt_2', true, 204],
    ['evt_1', null, 204],
  ]);
  expect(found[2]).toMatchObject({ body: '{"id":1}', path });
  expect(reported.filter((delivery) => delivery.path === path).map(({ webhookId }) => webhookId)).toEqual([
    'evt_1',
    'evt_2',
    'evt_3',
    'evt_4',
  ]);
});

test('planned failures apply to the next deliveries of their path only', async () => {
  expect(await call('POST', '/fail?count=2&status=503&path=/webhooks/failing')).toBe(204);
  const answers = [];
  for (const id of ['a', 'b', 'c']) answers.push(await deliver('/webhooks/failing', id));
  expect(answers).toEqual([503, 503, 204]);
  await call('POST', '/fail?count=1');
  expect(await deliver('/webhooks/other', 'd')).toBe(500);
  expect(await deliver('/webhooks/failing', 'e')).toBe(204);
});

test('invalid requests are rejected', async () => {
  expect(await call('POST', '/fail?count=-1')).toBe(400);
  expect(await call('POST', '/fail?status=200')).toBe(400);
  expect(await call('PUT', '/secrets?path=/webhooks/x', 'no secret')).toBe(400);
  expect(await call('PUT', '/secrets?path=/elsewhere', SECRET)).toBe(400);
  expect(await call('POST', '/webhooks/long', 'x'.repeat(2 * 1024 * 1024))).toBe(413);
  expect(await call('GET', '/')).toBe(404);
});

test('localhost and both loopback addresses answer with the same certificate', async () => {
  const { port } = new URL(receiver.url);
  for (const host of ['localhost', '127.0.0.1', '[::1]']) {
    const { status } = await fetch(`https://${host}:${port}/deliveries`, { dispatcher });
    expect(status).toBe(200);
  }
});

test('a certificate that cannot be renewed leaves the receiver running', async () => {
  using own = temporaryDataFolder();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const reported = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => {
    vi.useRealTimers();
    reported.mockRestore();
  });
  const lasting = await startDemoReceiver({ folder: own.folder, port: 0 });
  onTestFinished(() => lasting.stop());
  own.folder.write('certificates/demo-receiver.pem', 'damaged');
  vi.advanceTimersByTime(DAY_MS);
  await vi.waitFor(() => expect(reported).toHaveBeenCalledOnce());
});

test('the certificate and its CA survive a restart', async () => {
  const { caFile, ...first } = await loadDemoCertificate(data.folder);
  const ca = readFileSync(caFile, 'utf8');
  expect(await loadDemoCertificate(data.folder)).toEqual({ caFile, ...first });
  expect(readFileSync(caFile, 'utf8')).toBe(ca);
});

test('a certificate that expires soon, or that another CA issued, is reissued by the same CA', async () => {
  using own = temporaryDataFolder();
  const { caFile } = await loadDemoCertificate(own.folder);
  const ca = readFileSync(caFile, 'utf8');
  const authority = { certificatePem: ca, privateKeyPem: own.folder.read('certificates/demo-ca.key')! };
  const names = ['localhost'];
  const stale = [
    await issueCertificate(authority, { names, notAfter: new Date(Date.now() + DAY_MS) }),
    await issueCertificate(await createAuthority(), { names }),
  ];
  for (const { certificatePem, privateKeyPem } of stale) {
    own.folder.write('certificates/demo-receiver.pem', certificatePem);
    own.folder.write('certificates/demo-receiver.key', privateKeyPem);
    const renewed = await loadDemoCertificate(own.folder);
    expect(renewed.certificatePem).not.toBe(certificatePem);
    expect(new X509Certificate(renewed.certificatePem).checkIssued(new X509Certificate(ca))).toBe(true);
    expect(readFileSync(caFile, 'utf8')).toBe(ca);
  }
});
