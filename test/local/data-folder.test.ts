import { spawnSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { DataFolder } from '../../local/data-folder.ts';
import { loadGeneratedSecrets } from '../../local/generated-secrets.ts';
import { KeyRing } from '../../services/platform/key-ring.ts';
import { killAndWait, startInOtherProcess } from './processes/other-start.ts';
import { makeFolder, temporaryDataFolder } from './temporary-data-folder.ts';

test('a folder in use by another process is refused with its pid', async () => {
  const { path, remove } = makeFolder();
  expect(DataFolder.isInUse(path)).toBe(false);
  const other = await startInOtherProcess(path);
  expect(DataFolder.isInUse(path)).toBe(true);
  expect(() => DataFolder.open(path)).toThrow(
    `DATA_DIR ${path} is in use by another running instance (process ${other.process.pid})`,
  );
  await killAndWait(other);
  expect(DataFolder.isInUse(path)).toBe(false);
  DataFolder.open(path).close();
  remove();
  expect(DataFolder.isInUse(path)).toBe(false);
});

test('a folder can be opened again after its process is killed, by one process at a time', async () => {
  const { path, remove } = makeFolder();
  await killAndWait(await startInOtherProcess(path));
  const folder = DataFolder.open(path);
  expect(() => DataFolder.open(path)).toThrow(expect.objectContaining({ reason: 'DATA_FOLDER_IN_USE' }));
  folder.close();
  DataFolder.open(path).close();
  remove();
});

test('a path that cannot be a folder is reported in one line', () => {
  const { path, remove } = makeFolder();
  writeFileSync(join(path, 'file'), '');
  expect(() => DataFolder.open(join(path, 'file/below'))).toThrow(
    expect.objectContaining({
      reason: 'DATA_FOLDER_UNREADABLE',
      message: expect.stringMatching(/^DATA_DIR .* cannot be used: [^\n]*$/),
    }),
  );
  remove();
});

test('npm start ends with one line where no folder can be created, as in /proc', () => {
  const start = fileURLToPath(new URL('../../local/start.ts', import.meta.url));
  const env = { ...process.env, DATA_DIR: '/proc/missing/folder' };
  const options = { env, encoding: 'utf8', timeout: 30_000, killSignal: 'SIGKILL' } as const;
  const { status, stderr } = spawnSync(process.execPath, [start], options);
  expect(stderr).toMatch(/^DATA_DIR \/proc\/missing\/folder cannot be used: ENOENT: [^\n]*\n$/);
  expect(status).toBe(1);
});

test('secrets are generated once, readable only by their owner, and valid as settings', () => {
  using data = temporaryDataFolder();
  const secrets = loadGeneratedSecrets(data.folder, ['gateway', 'worker']);
  expect(loadGeneratedSecrets(data.folder, ['gateway', 'worker'])).toEqual(secrets);
  expect(statSync(data.folder.file('secrets.json')).mode & 0o777).toBe(0o600);
  for (const ring of Object.values(secrets.keyRings)) expect(KeyRing.parse(ring).current.id).toBe(1);
  expect(new Set(Object.values(secrets.keyRings)).size).toBe(3);
  expect(secrets.serviceTokens.gateway).toMatch(/^mps_[\w-]{43}$/);
  expect(secrets.serviceTokens.gateway).not.toBe(secrets.serviceTokens.worker);
});

test('a new caller gets a token, and the others keep theirs', () => {
  using data = temporaryDataFolder();
  const before = loadGeneratedSecrets(data.folder, ['gateway']);
  const after = loadGeneratedSecrets(data.folder, ['gateway', 'demo']);
  expect(after.keyRings).toEqual(before.keyRings);
  expect(after.serviceTokens.gateway).toBe(before.serviceTokens.gateway);
  expect(loadGeneratedSecrets(data.folder, []).serviceTokens.demo).toBe(after.serviceTokens.demo);
});

test('damaged secrets are reported and not replaced', () => {
  using data = temporaryDataFolder();
  data.folder.write('secrets.json', '{"keyRings":');
  expect(() => loadGeneratedSecrets(data.folder, [])).toThrow('is not valid JSON: restore it');
  expect(data.folder.read('secrets.json')).toBe('{"keyRings":');
});
