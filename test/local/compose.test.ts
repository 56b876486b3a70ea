import { globSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { signInFaults } from '../../gateway/dashboard/session/secure-address.ts';
import { type Config, readConfig, SETTINGS } from '../../services/platform/process/config.ts';
import { readComposeFile } from '../support/compose-file.ts';

const root = new URL('../../', import.meta.url);
const secretNames = ['API_KEY_PEPPERS', 'WEBHOOK_SECRET_KEYS', 'CURSOR_KEYS'] as const;

test('every container runs an existing file and depends on existing containers', async () => {
  const { containers } = await readComposeFile();
  expect(Object.keys(containers)).toEqual([
    'postgres',
    'temporal',
    'migrate',
    'webhook-lanes-role',
    'services',
    'webhook-lanes',
    'gateway',
    'worker',
    'prometheus',
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

test('every container gets valid settings, and only the secrets that it needs', async () => {
  const { containers } = await readComposeFile();
  const settingsOf = (name: string) => {
    const environment = containers[name]!.environment!;
    for (const setting of Object.keys(environment)) expect(SETTINGS).toHaveProperty(setting);
    return environment;
  };
  const remote = { required: ['SERVICES_URL', 'SERVICE_TOKEN'], unused: secretNames } as const;
  readConfig(settingsOf('migrate'), { required: ['DATABASE_URL'], unused: secretNames });
  const services = readConfig(settingsOf('services'), { required: ['DATABASE_URL'] });
  const otherSecrets = ['API_KEY_PEPPERS', 'CURSOR_KEYS'] as const;
  readConfig(settingsOf('webhook-lanes'), { required: ['DATABASE_URL'], unused: otherSecrets });
  const gateway = readConfig(settingsOf('gateway'), remote);
  expect(signInFaults(gateway)).toEqual([]);
  readConfig(settingsOf('worker'), { ...remote, required: [...remote.required, 'TEMPORAL_ADDRESS'] });
  expect(services.SERVICE_TOKENS.map(({ name }: Config['SERVICE_TOKENS'][number]) => name)).toEqual([
    'gateway',
    'dashboard',
    'worker',
    'operator',
  ]);
  for (const secret of [...otherSecrets, 'SERVICE_TOKENS', 'SERVICE_TOKEN']) {
    expect(containers['webhook-lanes']!.environment).not.toHaveProperty(secret);
  }
  expect(new Set([...services.SERVICES, 'webhook-lanes'])).toEqual(
    new Set(SETTINGS.SERVICES.fallback!.split(',')),
  );
  for (const name of ['gateway', 'worker']) {
    for (const secret of [...secretNames, 'DATABASE_URL']) {
      expect(containers[name]!.environment).not.toHaveProperty(secret);
    }
  }
});

test('Prometheus scrapes the operations port of every runtime and loads the alert rules', async () => {
  const { containers, files } = await readComposeFile();
  const { configs, volumes } = containers.prometheus!;
  expect(configs).toEqual([{ source: 'prometheus', target: '/etc/prometheus/prometheus.yml' }]);
  const { rule_files, scrape_configs } = parse(files.prometheus!.content);
  const mounts = volumes!.map((volume) => volume.split(':'));
  expect(mounts.map(([file]) => file?.slice('./'.length)).sort()).toEqual(
    globSync('services/*/alerts.yaml', { cwd: root }).sort(),
  );
  expect(rule_files).toEqual(mounts.map(([, mountedAs]) => mountedAs));
  const [{ names, port }] = scrape_configs[0].dns_sd_configs;
  expect(port).toBe(Number(SETTINGS.OPS_PORT.fallback));
  const runtimes = Object.entries(containers).filter(([, { image }]) => image === 'merchant-payments');
  expect(names).toEqual(runtimes.map(([name]) => name).filter((name) => name !== 'migrate'));
  for (const name of names) {
    expect(containers[name]!.environment).toMatchObject({ HOST: '0.0.0.0' });
    expect(containers[name]!.environment).not.toHaveProperty('OPS_PORT');
  }
});
