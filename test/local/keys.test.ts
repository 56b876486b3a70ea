import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@connectrpc/connect';
import { afterAll, expect, test } from 'vitest';
import type { CommandResult } from '../../local/command-line.ts';
import { runKeys } from '../../local/keys.ts';
import { ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { environmentOfApiKey } from '../../services/platform/api-key-format.ts';
import { API_KEY_SCOPES } from '../../services/platform/api-key-scopes.ts';
import { startHarness } from '../support/harness.ts';
import { startProgram } from '../support/program.ts';
import { makeFolder } from './temporary-data-folder.ts';

const harness = await startHarness({ SERVICES: 'api-keys' });
const { path: dataDir, remove } = makeFolder();
const grpc = { baseUrl: harness.baseUrl, token: harness.token };
writeFileSync(join(dataDir, 'demo.json'), JSON.stringify({ grpc }));
afterAll(async () => {
  await harness.close();
  remove();
});

const keys = (args: readonly string[], environment: Record<string, string> = { DATA_DIR: dataDir }) =>
  runKeys(args, environment);

/** The same as `keys`, as a process. */
async function spawnKeys(args: readonly string[]) {
  const program = startProgram(['local/keys.ts', ...args], { DATA_DIR: dataDir });
  return { ...(await program.exited), stdout: program.logged() };
}

const merchant = () => ['--merchant', randomUUID(), '--env', 'test'];
const jsonOf = ({ stdout }: CommandResult) => JSON.parse(stdout);

test('issues a key that authenticates, then lists, rotates and revokes it', async () => {
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

  const expiry = ['--overlap', '2h', '--expires-in', '90d'];
  const rotation = await keys(['rotate', ...tenant, '--id', issued.id, ...expiry, '--json']);
  const { rotated, ...successor } = jsonOf(rotation);
  const hoursAfter = (time: string) => (Date.parse(time) - Date.parse(successor.createdAt)) / 3_600_000;
  expect(hoursAfter(rotated.expiresAt)).toBe(2);
  expect(hoursAfter(successor.expiresAt)).toBeCloseTo(90 * 24, 1);

  const revoked = jsonOf(await keys(['revoke', ...tenant, '--id', issued.id, '--json']));
  const listed = jsonOf(await keys(['list', ...tenant, '--json']));
  expect(listed.map(({ id }: { id: string }) => id)).toEqual([successor.id, issued.id]);
  expect(listed[1].revokedAt).toBe(revoked.revokedAt);
});

test('prints a new key once, and tables without keys', async () => {
  const tenant = merchant();
  const { stdout } = await keys(['issue', ...tenant, '--name', 'Shop', '--scope', 'refunds:read']);
  const [key] = stdout.split('\n');
  expect(key).toMatch(/^mpk_test_[0-9A-Za-z]{38}$/);
  const list = await keys(['list', ...tenant]);
  expect(list.stdout).toMatch(/^id +name +key +scopes +created +expires +revoked +last used\n/);
  expect(list.stdout).toMatch(/ Shop +mpk_test_[0-9A-Za-z]{4}… +refunds:read +20/);
  expect((await keys(['list', ...merchant()])).stdout).toBe('no keys\n');
});

test('calls the services at SERVICES_URL with SERVICE_TOKEN', async () => {
  const environment = { SERVICES_URL: harness.baseUrl, SERVICE_TOKEN: harness.token };
  expect((await keys(['list', ...merchant()], environment)).exitCode).toBe(0);
  const refused = await keys(['list', ...merchant()], { ...environment, SERVICE_TOKEN: 'mps_other' });
  expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
  expect(refused.stderr).toMatch(/^SERVICE_TOKEN_INVALID: /);
});

test.each([[['--help']], [['issue', '--help']]])('%j prints the usage with every scope', async (args) => {
  const { exitCode, stdout, stderr } = await keys(args);
  expect([exitCode, stderr]).toEqual([0, '']);
  for (const scope of Object.keys(API_KEY_SCOPES)) expect(stdout).toContain(scope);
});

test('rotate prints the new key and both records; revoke and list print no key', async () => {
  const tenant = merchant();
  const scopes = Object.keys(API_KEY_SCOPES).flatMap((scope) => ['--scope', scope]);
  const issued = jsonOf(await keys(['issue', ...tenant, '--name', 'Shop', ...scopes, '--json']));
  expect(issued.scopes).toEqual(Object.keys(API_KEY_SCOPES));
  const { stdout } = await keys(['rotate', ...tenant, '--id', issued.id]);
  const [key, , notice, , ...table] = stdout.split('\n');
  expect(environmentOfApiKey(key!)).toBe('test');
  expect(notice).toContain('shown only once');
  expect(table.filter((row) => row.includes(' Shop '))).toHaveLength(2);
  const revoked = await keys(['revoke', ...tenant, '--id', issued.id]);
  const listed = await keys(['list', ...tenant, '--json']);
  for (const result of [revoked, listed]) {
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    for (const secret of [issued.key, key]) expect(result.stdout).not.toContain(secret);
  }
});

test('a rotated key works for another day, or for --overlap', async () => {
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
  [['steal'], 'unknown command steal'],
  [['list'], '--env is missing'],
  [['list', '--merchant', 'm', '--env', 'prod'], '--env must be live or test'],
  [['list', '--everything'], "Unknown option '--everything'"],
  [['rotate', ...merchant(), '--id', 'k', '--overlap', 'long'], '--overlap must be a duration such as'],
  [['issue', ...merchant(), '--scope', 'refunds:read'], '--name is missing'],
  [['issue', ...merchant(), '--name', 'Shop', '--scope', 'all'], '--scope must be one of refunds:read'],
  [['issue', ...merchant(), '--name', 'Shop', '--scope', 'toString'], '--scope must be one of refunds:read'],
  [['revoke', ...merchant()], '--id is missing'],
])('reports what is wrong with %j, and the usage', async (args, fault) => {
  const { exitCode, stdout, stderr } = await keys(args);
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toContain(fault);
  expect(stderr).toContain('npm run keys -- issue');
});

test.each([
  [['issue', ...merchant(), '--name', 'Shop'], 'scopes'],
  [['issue', ...merchant(), '--name', 'x'.repeat(101), '--scope', 'refunds:read'], 'name'],
  [['list', '--merchant', 'shop', '--env', 'live'], 'merchant_id'],
])('reports in one line which field the services reject: %j', async (args, field) => {
  const { exitCode, stdout, stderr } = await keys([...args, '--json']);
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(new RegExp(`^INVALID_ARGUMENT: ${field}.*\\n$`));
});

test('reports an error, a missing demo.json and unreachable services in one line each', async () => {
  const unknown = await keys(['revoke', ...merchant(), '--id', randomUUID()]);
  expect(unknown).toMatchObject({ exitCode: 1, stderr: 'API_KEY_NOT_FOUND: the API key does not exist\n' });
  const nowhere = await keys(['list', ...merchant()], { DATA_DIR: join(dataDir, 'none') });
  expect(nowhere.stderr).toMatch(/^cannot read .*demo\.json: run npm start first.*\n$/);
  const away = await keys(['list', ...merchant()], { SERVICES_URL: 'http://127.0.0.1:9' });
  expect(away.stderr).toMatch(/^cannot reach the services: .*\n$/);
});

test('as a process, prints to stdout and stderr and exits with the code of the result', async () => {
  const [listed, misused] = await Promise.all([spawnKeys(['list', ...merchant(), '--json']), spawnKeys([])]);
  expect(listed).toEqual({ exitCode: 0, stdout: '[]\n', stderr: '' });
  expect(misused).toMatchObject({ exitCode: 2, stdout: '' });
  expect(misused.stderr).toMatch(/^a command is missing\n/);
});
