import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, onTestFinished, test, vi } from 'vitest';
import { parse } from 'yaml';
import { signInFaults } from '../../gateway/dashboard/session/secure-address.ts';
import { POOL_SIZE as RATE_LIMIT_POOL_SIZE } from '../../gateway/rate-limits/rate-limit-store.ts';
import { type Config, readConfig } from '../../services/platform/process/config.ts';
import { SETTINGS } from '../../services/platform/process/settings.ts';
import { type Container, mountedFiles, readComposeFile } from '../support/compose-file.ts';
import { createTestDatabase } from '../support/harness.ts';

const root = new URL('../../', import.meta.url);
const PROMETHEUS_CONFIG = '/etc/prometheus/prometheus.yml';
const secretNames = ['API_KEY_PEPPERS', 'WEBHOOK_SECRET_KEYS', 'CURSOR_KEYS'] as const;

test('every container runs an existing file and depends on existing containers', async () => {
  const { containers } = await readComposeFile();
  expect(Object.keys(containers)).toEqual([
    'postgres',
    'migrate',
    'database-roles',
    'services',
    'webhook-lanes',
    'gateway',
    'worker',
    'temporal-schema',
    'temporal',
    'temporal-ui',
    'prometheus',
    'node-exporter',
  ]);
  for (const container of Object.values(containers)) {
    // Docker makes a folder of a file that is missing.
    for (const file of mountedFiles(container).values()) await access(file);
    const { image, command, depends_on = [] } = container;
    expect(Object.keys(containers)).toEqual(
      expect.arrayContaining(Array.isArray(depends_on) ? depends_on : Object.keys(depends_on)),
    );
    if (image !== 'merchant-payments') continue;
    expect(command?.[0]).toBe('node');
    await access(new URL(command![1]!, root));
  }
});

test.each(['docker-compose.yml', 'docker-compose.tls.yml'])(
  '%s follows the compose specification',
  async (name) => {
    const { document } = await readComposeFile(name);
    const schema = JSON.parse(
      await readFile(new URL('compose-spec/compose-spec.json', import.meta.url), 'utf8'),
    );
    const validate = new Ajv2020({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
    validate(document);
    expect(validate.errors ?? []).toEqual([]);
  },
);

/** Images whose own user is not root. */
const UNPRIVILEGED = /^(temporalio|prom)\//;
/** Of the machine, as docs/operations/README.md says. */
const MIN_CPUS = 2;
const ONE_SHOT = ['migrate', 'database-roles', 'temporal-schema'];

test('every container is confined, bounded and pinned, and reports its health', async () => {
  const { document, containers } = await readComposeFile();
  // Compose refuses to write them into a read-only container.
  expect(document).not.toHaveProperty('configs');
  for (const [name, container] of Object.entries(containers)) {
    expect([name, container]).toEqual([
      name,
      expect.objectContaining({
        restart: ONE_SHOT.includes(name) ? 'on-failure' : 'unless-stopped',
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        deploy: { resources: { limits: { cpus: expect.any(String), memory: expect.any(String) } } },
      }),
    ]);
    const { image = '', user, healthcheck, deploy } = container;
    // Docker refuses more than the machine has.
    expect(Number(deploy!.resources.limits.cpus)).toBeLessThanOrEqual(MIN_CPUS);
    if (image !== 'merchant-payments') expect(image).toMatch(/:v?\d+\.\d+(\.\d+)?$/);
    if (!UNPRIVILEGED.test(image))
      expect([name, user]).toEqual([name, expect.stringMatching(/^(node|postgres)$/)]);
    expect([name, healthcheck !== undefined]).toEqual([name, !ONE_SHOT.includes(name)]);
  }
});

/** How often docs/operations/README.md says that the file allows each to run. */
const COPIES = { services: 3, 'webhook-lanes': 2, gateway: 3 };
/** For psql, backups and monitoring; PostgreSQL reserves three more for superusers. */
const FOR_PEOPLE = 10 + 3;
/** Live, sandbox and dashboard. */
const COUNTING_LISTENERS = 3;
const TEMPORAL_SERVICES = 4;

test('PostgreSQL has the connections that all copies may open', async () => {
  const { containers } = await readComposeFile();
  const poolSize = (name: string) =>
    readConfig(containers[name]!.environment!, { unused: ['API_KEY_PEPPERS', 'CURSOR_KEYS'] })
      .DATABASE_POOL_SIZE;
  const writesAndReads = (name: 'services' | 'webhook-lanes') => COPIES[name] * 2 * poolSize(name);
  const { SQL_MAX_CONNS, SQL_VIS_MAX_CONNS } = containers.temporal!.environment!;
  const needed =
    writesAndReads('services') +
    writesAndReads('webhook-lanes') +
    COPIES.gateway * COUNTING_LISTENERS * RATE_LIMIT_POOL_SIZE +
    TEMPORAL_SERVICES * (Number(SQL_MAX_CONNS) + Number(SQL_VIS_MAX_CONNS)) +
    ONE_SHOT.length +
    FOR_PEOPLE;
  const [, allowed] = /max_connections=(\d+)/.exec(containers.postgres!.command!.join(' '))!;
  expect(needed).toBe(321);
  expect(Number(allowed)).toBeGreaterThanOrEqual(needed);
});

test('what people reach has a public address, and copies of services a port each', async () => {
  const { containers } = await readComposeFile();
  const { gateway, services } = containers;
  const published = gateway!.ports!.map((port) => port.split(':').map(Number));
  const addresses = ['PUBLIC_URL_LIVE', 'PUBLIC_URL_SANDBOX', 'PUBLIC_URL_DASHBOARD'];
  const ports = ['LIVE_PORT', 'SANDBOX_PORT', 'DASHBOARD_PORT'] as const;
  expect(published).toEqual(ports.map((name) => Array(2).fill(Number(SETTINGS[name].fallback))));
  expect(addresses.map((name) => gateway!.environment![name])).toEqual(
    published.map(([port]) => `http://127.0.0.1:${port}`),
  );
  const [, first, last] = /^127\.0\.0\.1:(\d+)-(\d+):8082$/.exec(services!.ports![0]!)!;
  expect(Number(last) - Number(first) + 1).toBeGreaterThanOrEqual(COPIES.services);
});

test('the image has what its programs import, the Node.js of the lock file, and no root', async () => {
  const dockerfile = await readFile(new URL('Dockerfile', root), 'utf8');
  const { dependencies } = JSON.parse(await readFile(new URL('package.json', root), 'utf8'));
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
  expect(new Set(bases)).toEqual(new Set([`node:${dependencies.node}-bookworm-slim`]));
  const copied = [...dockerfile.matchAll(/^COPY (\S+(?: \S+)*) \S+$/gm)].flatMap(([, sources]) =>
    sources!.split(' '),
  );
  for (const source of copied)
    if (!source.startsWith('/') && !source.startsWith('--')) await access(new URL(source, root));
  expect(dockerfile.trimEnd().split('\n').at(-1)).toBe('USER node');
});

const hashOf = (token: string | undefined) => createHash('sha256').update(token!).digest('hex');

test('every container has valid settings and only the secrets that it needs', async () => {
  const { containers, env } = await readComposeFile();
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
  const worker = readConfig(settingsOf('worker'), {
    ...remote,
    required: [...remote.required, 'TEMPORAL_ADDRESS'],
  });
  const callers: Config['SERVICE_TOKENS'] = services.SERVICE_TOKENS;
  expect(callers.map(({ name, tokenSha256 }) => [name, tokenSha256])).toEqual([
    ['gateway', hashOf(gateway.SERVICE_TOKEN)],
    ['dashboard', expect.any(String)],
    ['worker', hashOf(worker.SERVICE_TOKEN)],
    ['operator', hashOf(env.OPERATOR_TOKEN)],
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

test('with mutual TLS no process has a token, and each has its own folder of certificates', async () => {
  const { containers } = await readComposeFile();
  const { containers: secured } = await readComposeFile('docker-compose.tls.yml');
  for (const [name, { environment, volumes }] of Object.entries(secured)) {
    const settings = { ...containers[name]!.environment, ...environment };
    const secrets = Object.entries(settings).filter(
      ([setting, value]) => /SERVICE_TOKEN/.test(setting) && value,
    );
    expect([name, secrets]).toEqual([name, []]);
    const folders = volumes!.map((volume) => volume.split(':')[0]);
    expect(folders).toEqual(
      [name, ...(name === 'gateway' ? ['dashboard'] : [])].map((folder) => `./certificates/${folder}`),
    );
  }
});

test('Prometheus scrapes the operations port of every runtime and the disks, and loads the alert rules', async () => {
  const { containers } = await readComposeFile();
  const mounted = mountedFiles(containers.prometheus!);
  const { rule_files, scrape_configs } = parse(await readFile(mounted.get(PROMETHEUS_CONFIG)!, 'utf8'));
  const rules = [...mounted].filter(([path]) => path !== PROMETHEUS_CONFIG);
  expect(rules.map(([, { href }]) => href.slice(root.href.length)).sort()).toEqual(
    globSync('services/*/alerts.yaml', { cwd: root }).sort(),
  );
  expect(rule_files).toEqual(rules.map(([path]) => path));
  const [{ names, port }] = scrape_configs[0].dns_sd_configs;
  expect(port).toBe(Number(SETTINGS.OPS_PORT.fallback));
  const runtimes = Object.entries(containers).filter(([, { image }]) => image === 'merchant-payments');
  expect(names).toEqual(runtimes.map(([name]) => name).filter((name) => name !== 'migrate'));
  // Where data is written, the disk is watched.
  const volumesOf = (name: string) => containers[name]!.volumes!.map((volume) => volume.split(':')[0]!);
  const written = ['postgres', 'prometheus'].flatMap(volumesOf).filter((volume) => !volume.startsWith('./'));
  expect(volumesOf('node-exporter')).toEqual(written);
  const watched = containers['node-exporter']!.volumes!.map((volume) => volume.split(':')[1]!);
  // Docker mounts these from its own disk into every container.
  const others = ['/etc/hosts', '/etc/hostname', '/etc/resolv.conf'];
  const exporter = containers['node-exporter']!.command!.join(' ');
  const [, include] = /--collector\.filesystem\.mount-points-include=(\S+)/.exec(exporter)!;
  expect([...watched, ...others].filter((path) => new RegExp(include!).test(path))).toEqual(watched);
  expect(scrape_configs[1].static_configs[0].targets).toEqual(['node-exporter:9100']);
  for (const name of names) {
    expect(containers[name]!.environment).toMatchObject({ HOST: '0.0.0.0' });
    expect(containers[name]!.environment).not.toHaveProperty('OPS_PORT');
  }
});

const isInstalled = (program: string) => spawnSync(program, ['--version']).status === 0;

/** A text of a container, with the paths of this machine for those of the files that it sees. */
const withPathsHere = (text: string, container: Container) =>
  [...mountedFiles(container)].reduce(
    (replaced, [path, file]) => replaced.replaceAll(path, fileURLToPath(file)),
    text,
  );

test.skipIf(!isInstalled('promtool'))('Prometheus accepts its configuration and the rules', async () => {
  const { prometheus } = (await readComposeFile()).containers;
  const config = await readFile(mountedFiles(prometheus!).get(PROMETHEUS_CONFIG)!, 'utf8');
  const folder = mkdtempSync(join(tmpdir(), 'payments-compose-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'prometheus.yml');
  writeFileSync(file, withPathsHere(config, prometheus!));
  const { status, stderr, stdout } = spawnSync('promtool', ['check', 'config', file], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout.match(/SUCCESS: \d+ rules found/g)).toHaveLength(5);
});

/** Ends the transaction with an error that lists the roles. */
const LIST_ROLES = `do $$ begin
  raise exception 'with a password: %', (
    select string_agg(rolname || case when rolcreatedb then ' (createdb)' else '' end, ', ' order by rolname)
      from pg_authid where rolpassword is not null and rolcanlogin and not rolsuper);
end $$`;

test.skipIf(!isInstalled('psql'))('psql creates the roles of the database with the command', async () => {
  const container = (await readComposeFile()).containers['database-roles']!;
  const [program, ...args] = container.command!;
  // The roles belong to all databases of the server, so the transaction is rolled back.
  const given = args.slice(0, -1).map((arg) => withPathsHere(arg, container));
  const last = ['--single-transaction', `--command=${LIST_ROLES}`, await createTestDatabase()];
  await vi.waitFor(() => {
    const { stderr } = spawnSync(program!, [...given, ...last], { encoding: 'utf8' });
    // Another test may change a role in the same moment.
    expect(stderr).toMatch(/^ERROR: {2}with a password: rate_limits, temporal \(createdb\), webhook_lanes\n/);
  });
});
