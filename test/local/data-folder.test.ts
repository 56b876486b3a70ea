import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DataFolder } from '../../local/data-folder.ts';
import { loadGeneratedSecrets } from '../../local/generated-secrets.ts';
import { KeyRing } from '../../services/platform/key-ring.ts';
import { killHard, startElsewhere } from './processes/other-start.ts';
import { makeFolder, temporaryDataFolder } from './temporary-data-folder.ts';

test('a folder that another process runs on is refused, with its process number', async () => {
  const { path, remove } = makeFolder();
  const other = await startElsewhere(path);
  expect(() => DataFolder.open(path)).toThrow(
    `DATA_DIR ${path} is in use by another running instance (process ${other.process.pid})`,
  );
  await killHard(other);
  DataFolder.open(path).close();
  remove();
});

test('the folder of a killed process is taken over at once', async () => {
  const { path, remove } = makeFolder();
  await killHard(await startElsewhere(path));
  const folder = DataFolder.open(path);
  expect(() => DataFolder.open(path)).toThrow(expect.objectContaining({ reason: 'DATA_FOLDER_IN_USE' }));
  folder.close();
  DataFolder.open(path).close();
  remove();
});

test('a path that cannot be a folder is one clear line', () => {
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

test('secrets are made once, readable by the owner alone, and accepted as settings', () => {
  using data = temporaryDataFolder();
  const made = loadGeneratedSecrets(data.folder, ['gateway', 'worker']);
  expect(loadGeneratedSecrets(data.folder, ['gateway', 'worker'])).toEqual(made);
  expect(statSync(data.folder.file('secrets.json')).mode & 0o777).toBe(0o600);
  for (const ring of Object.values(made.keyRings)) expect(KeyRing.parse(ring).current.id).toBe(1);
  expect(new Set(Object.values(made.keyRings)).size).toBe(3);
  expect(made.serviceTokens.gateway).toMatch(/^mps_[\w-]{43}$/);
  expect(made.serviceTokens.gateway).not.toBe(made.serviceTokens.worker);
});

test('a caller that is new gets a token and the others keep theirs', () => {
  using data = temporaryDataFolder();
  const before = loadGeneratedSecrets(data.folder, ['gateway']);
  const after = loadGeneratedSecrets(data.folder, ['gateway', 'demo']);
  expect(after.keyRings).toEqual(before.keyRings);
  expect(after.serviceTokens.gateway).toBe(before.serviceTokens.gateway);
  expect(loadGeneratedSecrets(data.folder, []).serviceTokens.demo).toBe(after.serviceTokens.demo);
});

test('damaged secrets are reported and never replaced', () => {
  using data = temporaryDataFolder();
  data.folder.write('secrets.json', '{"keyRings":');
  expect(() => loadGeneratedSecrets(data.folder, [])).toThrow('is not valid JSON: restore it');
  expect(data.folder.read('secrets.json')).toBe('{"keyRings":');
});
