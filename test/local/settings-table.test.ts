import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { envExample, settingsHelp, withSettings } from '../../local/settings-table.ts';
import { readConfig } from '../../services/platform/process/config.ts';
import { SETTINGS } from '../../services/platform/process/settings.ts';

const file = (name: string) => readFile(new URL(`../../${name}`, import.meta.url), 'utf8');

test('.env.example and docs/settings.md match the settings (npm run settings writes both)', async () => {
  expect(await file('.env.example')).toBe(envExample());
  const page = await file('docs/settings.md');
  expect(page).toBe(withSettings(page));
});

test('.env.example with every line uncommented equals the defaults', () => {
  const key = `v1:${Buffer.alloc(32).toString('base64')}`;
  const secrets = { API_KEY_PEPPERS: key, WEBHOOK_SECRET_KEYS: key, CURSOR_KEYS: key };
  const example = parseEnv(envExample().replaceAll(/^#(?=[A-Z])/gm, ''));
  expect(Object.keys(example).sort()).toEqual(Object.keys(SETTINGS).sort());
  expect(readConfig({ ...example, ...secrets })).toEqual(readConfig(secrets));
});

test('the help lists every setting on its own line', () => {
  const names = settingsHelp()
    .split('\n')
    .map((line) => line.split(' ')[0]);
  expect(names).toEqual(Object.keys(SETTINGS));
});

test('a page without markers is rejected', () => {
  expect(() => withSettings('# Payments\n')).toThrow('<!-- settings -->');
});
