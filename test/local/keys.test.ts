import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { environmentOfApiKey } from '../../services/platform/api-key-format.ts';
import { API_KEY_SCOPES } from '../../services/platform/api-key-scopes.ts';
import { startHarness, type TestHarness } from '../support/harness.ts';

let harness: TestHarness;
let dataDir: string;
beforeAll(async () => {
  harness = await startHarness({ SERVICES: 'api-keys' });
  dataDir = await mkdtemp(join(tmpdir(), 'payments-keys-'));
  const { baseUrl, token } = harness;
  await writeFile(join(dataDir, 'demo.json'), JSON.stringify({ grpc: { baseUrl, token } }));
});
afterAll(async () => {
  await harness.close();
  await rm(dataDir, { recursive: true });
});

interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

function keys(args: string[], environment: Record<string, string> = { DATA_DIR: dataDir }): Promise<Ran> {
  return new Promise((resolve) => {
    const script = new URL('../../local/keys.ts', import.meta.url).pathname;
    execFile(process.execPath, [script, ...args], { env: environment }, (error, stdout, stderr) =>
      resolve({ exitCode: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

const merchant = () => ['--merchant', randomUUID(), '--env', 'test'];
const jsonOf = ({ stdout }: Ran) => JSON.parse(stdout);

test('issues a key that authenticates, lists it, rotates it, revokes it', async () => {
  const tenant = merchant();
  const scopes = ['--scope', 'funds:read', '--scope', 'webhooks:manage'];
  const issued = jsonOf(await keys(['issue', ...tenant, '--name', 'Shop', ...scopes, '--json']));
  expect(issued).toMatchObject({ environment: 'test', scopes: ['funds:read', 'webhooks:manage'] });
  const client = createClient(ApiKeyService, harness.transports.inProcess);
  const environment = Environment.TEST;
  expect(await client.authenticateApiKey({ key: issued.key, environment })).toMatchObject({
    apiKeyId: issued.id,
    scopes: [ApiKeyScope.FUNDS_READ, ApiKeyScope.WEBHOOKS_MANAGE],
  });

  const rotation = [
    'rotate',
    ...tenant,
    '--id',
    issued.id,
    '--overlap',
    '2h',
    '--expires-in',
    '90d',
    '--json',
  ];
  const { rotated, ...successor } = jsonOf(await keys(rotation));
  const hoursAfter = (time: string) => (Date.parse(time) - Date.parse(successor.createdAt)) / 3_600_000;
  expect(hoursAfter(rotated.expiresAt)).toBe(2);
  expect(hoursAfter(successor.expiresAt)).toBeCloseTo(90 * 24, 1);

  const revoked = jsonOf(await keys(['revoke', ...tenant, '--id', issued.id, '--json']));
  const listed = jsonOf(await keys(['list', ...tenant, '--json']));
  expect(listed.map(({ id }: { id: string }) => id)).toEqual([successor.id, issued.id]);
  expect(listed[1].revokedAt).toBe(revoked.revokedAt);
});

test('shows people the key once, then a table without it', async () => {
  const tenant = merchant();
  const { stdout } = await keys(['issue', ...tenant, '--name', 'Shop', '--scope', 'refunds:read']);
  const [key] = stdout.split('\n');
  expect(key).toMatch(/^mpk_test_[0-9A-Za-z]{38}$/);
  const list = await keys(['list', ...tenant]);
  expect(list.stdout).toMatch(/^id +name +key +scopes +created +expires +revoked +last used\n/);
  expect(list.stdout).toMatch(/ Shop +mpk_test_[0-9A-Za-z]{4}… +refunds:read +20/);
  expect((await keys(['list', ...merchant()])).stdout).toBe('no keys\n');
});

test('asks the services of SERVICES_URL with SERVICE_TOKEN', async () => {
  const environment = { SERVICES_URL: harness.baseUrl, SERVICE_TOKEN: harness.token };
  expect((await keys(['list', ...merchant()], environment)).exitCode).toBe(0);
  const refused = await keys(['list', ...merchant()], { ...environment, SERVICE_TOKEN: 'mps_other' });
  expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
  expect(refused.stderr).toMatch(/^SERVICE_TOKEN_INVALID: /);
});

test('--help shows the usage, with every scope', async () => {
  const { exitCode, stdout, stderr } = await keys(['--help']);
  expect([exitCode, stderr]).toEqual([0, '']);
  for (const scope of Object.keys(API_KEY_SCOPES)) expect(stdout).toContain(scope);
});

test('rotation shows the new key and both records; nothing that lists shows a key', async () => {
  const tenant = merchant();
  const scopes = Object.keys(API_KEY_SCOPES).flatMap((scope) => ['--scope', scope]);
  const issued = jsonOf(await keys(['issue', ...tenant, '--name', 'Shop', ...scopes, '--json']));
  expect(issued.scopes).toEqual(Object.keys(API_KEY_SCOPES));
  const { stdout } = await keys(['rotate', ...tenant, '--id', issued.id]);
  const [key, , told, , ...table] = stdout.split('\n');
  expect(environmentOfApiKey(key!)).toBe('test');
  expect(told).toContain('only time');
  expect(table.filter((row) => row.includes(' Shop '))).toHaveLength(2);
  const revoked = await keys(['revoke', ...tenant, '--id', issued.id]);
  const listed = await keys(['list', ...tenant, '--json']);
  for (const ran of [revoked, listed]) {
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    for (const secret of [issued.key, key]) expect(ran.stdout).not.toContain(secret);
  }
});

test('a rotated key lives on for a day, or for as long as is said', async () => {
  const tenant = merchant();
  const scope = ['--scope', 'refunds:read'];
  for (const [overlap, hours] of [
    [[], 24],
    [['--overlap', '2h'], 2],
    [['--overlap', '0s'], 0],
  ] as const) {
    const issued = jsonOf(await keys(['issue', ...tenant, '--name', 'Shop', ...scope, '--json']));
    const { rotated } = jsonOf(await keys(['rotate', ...tenant, '--id', issued.id, ...overlap, '--json']));
    expect(Math.abs(Date.parse(rotated.expiresAt) - Date.now() - hours * 3_600_000)).toBeLessThan(60_000);
  }
});

test.each([
  [[], 'a command is missing'],
  [['steal'], 'there is no command steal'],
  [['list'], '--env is missing'],
  [['list', '--merchant', 'm', '--env', 'prod'], '--env is live or test'],
  [['list', '--everything'], "Unknown option '--everything'"],
  [['rotate', ...merchant(), '--id', 'k', '--overlap', 'long'], '--overlap must be a duration such as'],
  [['issue', ...merchant(), '--scope', 'refunds:read'], '--name is missing'],
  [['issue', ...merchant(), '--name', 'Shop', '--scope', 'all'], '--scope is one of refunds:read'],
  [['issue', ...merchant(), '--name', 'Shop', '--scope', 'toString'], '--scope is one of refunds:read'],
  [['revoke', ...merchant()], '--id is missing'],
])('answers %j with what is wrong and the usage', async (args, fault) => {
  const ran = await keys(args);
  expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
  expect(ran.stderr).toContain(fault);
  expect(ran.stderr).toContain('npm run keys -- issue');
});

test.each([
  [['issue', ...merchant(), '--name', 'Shop'], 'scopes'],
  [['issue', ...merchant(), '--name', 'x'.repeat(101), '--scope', 'refunds:read'], 'name'],
  [['list', '--merchant', 'shop', '--env', 'live'], 'merchant_id'],
])('passes on in one line what the services refuse: %j', async (args, field) => {
  const ran = await keys([...args, '--json']);
  expect(ran).toMatchObject({ exitCode: 1, stdout: '' });
  expect(ran.stderr).toMatch(new RegExp(`^INVALID_ARGUMENT: ${field}.*\\n$`));
});

test('says a refusal, a missing system and one that is away in one line', async () => {
  const unknown = await keys(['revoke', ...merchant(), '--id', randomUUID()]);
  expect(unknown).toMatchObject({ exitCode: 1, stderr: 'API_KEY_NOT_FOUND: the API key does not exist\n' });
  const nowhere = await keys(['list', ...merchant()], { DATA_DIR: join(dataDir, 'none') });
  expect(nowhere.stderr).toMatch(/^.*demo\.json cannot be read: run npm start first.*\n$/);
  const away = await keys(['list', ...merchant()], { SERVICES_URL: 'http://127.0.0.1:9' });
  expect(away.stderr).toMatch(/^the services cannot be reached: .*\n$/);
});
