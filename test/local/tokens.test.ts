import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { CommandResult } from '../../local/command-line.ts';
import { runTokens } from '../../local/tokens.ts';
import { startHarness } from '../support/harness.ts';
import { sqlOf } from '../support/sql.ts';
import { makeFolder } from './temporary-data-folder.ts';

const harness = await startHarness({ SERVICES: 'catalog' });
const { path: dataDir, remove } = makeFolder();
const grpc = { baseUrl: harness.baseUrl, token: harness.token };
writeFileSync(join(dataDir, 'demo.json'), JSON.stringify({ grpc }));
afterAll(async () => {
  await harness.close();
  remove();
});

const tokens = (...args: string[]) => runTokens(args, { DATA_DIR: dataDir });
const jsonOf = ({ stdout }: CommandResult) => JSON.parse(stdout);
const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
const storedHash = async (id: string) => {
  const text = `select encode(token_sha256, 'hex') as hash from platform.service_token where id = $1`;
  return (await sqlOf<{ hash: string }>(harness, text, [id]))[0]?.hash;
};

test('issues a token, then rotates, revokes and lists it', async () => {
  const grants = ['--grant', 'refunds:read', '--grant', 'funds:write:test'];
  const issued = jsonOf(await tokens('issue', '--name', 'billing', ...grants, '--json'));
  expect(issued).toMatchObject({ name: 'billing', grants: ['refunds:read', 'funds:write:test'] });
  expect(issued.token).toMatch(/^mps_[\w-]{43}$/);
  expect(await storedHash(issued.id)).toBe(sha256(issued.token));

  const expiry = ['--overlap', '2h', '--expires-in', '90d'];
  const { rotated, ...successor } = jsonOf(await tokens('rotate', '--id', issued.id, ...expiry, '--json'));
  expect(await storedHash(successor.id)).toBe(sha256(successor.token));
  const hoursAfter = (time: string) => (Date.parse(time) - Date.parse(successor.createdAt)) / 3_600_000;
  expect(hoursAfter(rotated.expiresAt)).toBe(2);
  expect(hoursAfter(successor.expiresAt)).toBeCloseTo(90 * 24, 1);

  const { revokedAt } = jsonOf(await tokens('revoke', '--id', issued.id, '--json'));
  const { stdout } = await tokens('list', '--name', 'billing', '--json');
  expect(JSON.parse(stdout)).toMatchObject([{ id: successor.id }, { id: issued.id, revokedAt }]);
  for (const { token } of [issued, successor]) expect(stdout).not.toContain(token);
});

test('prints a new token once, and tables without tokens', async () => {
  const { stdout } = await tokens('issue', '--name', 'support', '--grant', 'webhooks:read');
  const [token, , notice] = stdout.split('\n');
  expect(token).toMatch(/^mps_/);
  expect(notice).toContain('shown only once');
  const { stdout: list } = await tokens('list', '--name', 'support');
  expect(list).toMatch(/^id +caller +created +expires +revoked +grants\n.* support +20.* webhooks:read\n$/);
  expect((await tokens('list', '--name', 'unknown')).stdout).toBe('no tokens\n');
});

test.each([
  [[], 2, 'a command is missing'],
  [['issue', '--grant', 'refunds:read'], 2, '--name is missing'],
  [['rotate', '--id', 'x', '--overlap', 'long'], 2, '--overlap must be a duration'],
  [['issue', '--name', 'billing'], 1, 'INVALID_ARGUMENT: grants'],
  [['issue', '--name', 'billing', '--grant', 'refunds:all'], 1, 'UNKNOWN_GRANT: grants: "refunds:all"'],
  [['issue', '--name', 'Billing', '--grant', 'refunds:read'], 1, 'INVALID_ARGUMENT: name'],
  [['revoke', '--id', crypto.randomUUID()], 1, 'SERVICE_TOKEN_NOT_FOUND: '],
])('reports what is wrong with %j', async (args, exitCode, fault) => {
  const result = await tokens(...args);
  expect(result).toMatchObject({ exitCode, stdout: '' });
  expect(result.stderr).toContain(fault);
});
