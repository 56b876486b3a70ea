import { access, readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { composeEnv } from '../../local/compose-env.ts';
import { type Config, readConfig, SETTINGS } from '../../services/platform/config.ts';

interface Container {
  readonly image?: string;
  readonly command?: string[];
  readonly environment?: Record<string, string>;
  readonly depends_on?: string[] | Record<string, unknown>;
}

const root = new URL('../../', import.meta.url);
const secretNames = ['API_KEY_PEPPERS', 'WEBHOOK_SECRET_KEYS', 'CURSOR_KEYS'] as const;

/** docker-compose.yml with the variables of an .env as compose puts them in. */
async function composition(): Promise<Record<string, Container>> {
  const env = parseEnv(composeEnv());
  const text = await readFile(new URL('docker-compose.yml', root), 'utf8');
  const filled = text.replaceAll(/\$\{(\w+):\?[^}]*\}/g, (_, name: string) => {
    expect(env).toHaveProperty(name);
    return env[name]!;
  });
  expect(filled).not.toContain('${');
  return parse(filled, { merge: true }).services;
}

test('compose starts the whole apart, each runtime by a file there is, after what it needs', async () => {
  const containers = await composition();
  expect(Object.keys(containers)).toEqual([
    'postgres',
    'temporal',
    'migrate',
    'services',
    'gateway',
    'worker',
  ]);
  for (const { image, command, depends_on = [] } of Object.values(containers)) {
    expect(Object.keys(containers)).toEqual(
      expect.arrayContaining(Array.isArray(depends_on) ? depends_on : Object.keys(depends_on)),
    );
    if (image !== 'merchant-payments') continue;
    expect(command?.[0]).toBe('node');
    await access(new URL(command![1]!, root));
  }
});

test('every container of ours gets settings that its process takes, and no secret that it has no use for', async () => {
  const containers = await composition();
  const settingsOf = (name: string) => {
    const environment = containers[name]!.environment!;
    for (const setting of Object.keys(environment)) expect(SETTINGS).toHaveProperty(setting);
    return environment;
  };
  const away = { required: ['SERVICES_URL', 'SERVICE_TOKEN'], unused: secretNames } as const;
  readConfig(settingsOf('migrate'), { required: ['DATABASE_URL'], unused: secretNames });
  const services = readConfig(settingsOf('services'), { required: ['DATABASE_URL'] });
  readConfig(settingsOf('gateway'), away);
  readConfig(settingsOf('worker'), { ...away, required: [...away.required, 'TEMPORAL_ADDRESS'] });
  expect(services.SERVICE_TOKENS.map(({ name }: Config['SERVICE_TOKENS'][number]) => name)).toEqual([
    'gateway',
    'worker',
  ]);
  for (const name of ['gateway', 'worker']) {
    for (const secret of [...secretNames, 'DATABASE_URL']) {
      expect(containers[name]!.environment).not.toHaveProperty(secret);
    }
  }
});
