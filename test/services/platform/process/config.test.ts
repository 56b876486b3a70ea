import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createAuthority } from '../../../../local/certificates.ts';
import { createEnvironmentGuards } from '../../../../services/platform/egress/environment-guards.ts';
import { ConfigError, readConfig } from '../../../../services/platform/process/config.ts';

const keys = `v1:${Buffer.alloc(32).toString('base64')}`;
const secrets = { API_KEY_PEPPERS: keys, WEBHOOK_SECRET_KEYS: keys, CURSOR_KEYS: keys };

const faultsOf = (read: () => unknown): readonly string[] => {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
};

test('settings have defaults and types; an empty one counts as absent', () => {
  const config = readConfig({ ...secrets, LIVE_PORT: '', SERVICES: 'funds, api-keys' });
  expect(config).toMatchObject({
    LIVE_PORT: 8080,
    DATABASE_URL: undefined,
    MERCHANT_REVIEW_PERIOD: 604_800_000,
  });
  expect(config.SERVICES).toEqual(['funds', 'api-keys']);
  // Fastify opens a second server for the name, without what is added to the first.
  expect(readConfig({ ...secrets, HOST: 'localhost' }).HOST).toBe('127.0.0.1');
});

test('all errors are reported at once, without secrets', () => {
  const faults = faultsOf(() =>
    readConfig({
      CURSOR_KEYS: 'v1:secret',
      LIVE_PORT: '80 80',
      SERVICES: 'funds,parties',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization',
      OTEL_TRACES_SAMPLER_ARG: '10',
      LOG_LEVEL: 'loud',
    }),
  );
  expect(faults.map((fault) => fault.split(' ')[0])).toEqual([
    'LIVE_PORT',
    'SERVICES',
    'API_KEY_PEPPERS',
    'WEBHOOK_SECRET_KEYS',
    'CURSOR_KEYS',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'OTEL_TRACES_SAMPLER_ARG',
    'LOG_LEVEL',
  ]);
  expect(faults.join()).not.toContain('v1:secret');
});

test('keys have versions from 1 to 255, each once; the first is the current one', () => {
  const key = keys.slice('v1'.length);
  const read = (value: string) => readConfig({ ...secrets, CURSOR_KEYS: value });
  expect(read(`v255${key}, v1${key}`).CURSOR_KEYS.current.id).toBe(255);
  for (const value of [`v0${key}`, `v256${key}`, `v1${key},v1${key}`, `v1${key}x`, `xv1${key}`]) {
    expect(faultsOf(() => read(value))).toEqual([expect.stringMatching(/^CURSOR_KEYS /)]);
  }
});

test('authorities for deliveries must be certificates', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'extra-ca-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const WEBHOOK_EXTRA_CA = join(folder, 'ca.pem');
  const guards = () => createEnvironmentGuards(readConfig({ ...secrets, WEBHOOK_EXTRA_CA }));
  expect(guards).toThrow(/^WEBHOOK_EXTRA_CA cannot be used: ENOENT/);
  await writeFile(WEBHOOK_EXTRA_CA, 'authority');
  expect(guards).toThrow('WEBHOOK_EXTRA_CA cannot be used: contains no certificate');
});

test('a process requires its own settings, and ignores those it does not use', () => {
  const required = ['DATABASE_URL', 'SERVICE_TOKEN'] as const;
  const unused = ['API_KEY_PEPPERS', 'WEBHOOK_SECRET_KEYS', 'CURSOR_KEYS'] as const;
  expect(faultsOf(() => readConfig({}, { required, unused }))).toEqual([
    'DATABASE_URL is required',
    'SERVICE_TOKEN is required',
  ]);
  const config = readConfig(
    { ...secrets, DATABASE_URL: 'postgres://db/payments', SERVICE_TOKEN: 'mps_1' },
    { required, unused },
  );
  expect(config.DATABASE_URL).toBe('postgres://db/payments');
  expect(config).not.toHaveProperty('API_KEY_PEPPERS');
});

test.each([['nonsense'], ['https://db.example/payments'], ['user:hunter2@db.example/payments']])(
  'a DATABASE_URL such as %s is an error that does not repeat it',
  (url) => {
    const faults = faultsOf(() => readConfig({ ...secrets, DATABASE_URL: url }));
    expect(faults).toEqual([expect.stringMatching(/^DATABASE_URL must be a postgres URL/)]);
    expect(faults.join()).not.toContain('hunter2');
  },
);

test.each([
  ['sslMode=verify-full', /a parameter for TLS other than/],
  ['tls=true', /a parameter for TLS other than/],
  ['sslmode=', /an empty parameter for TLS/],
  ['sslrootcert=', /an empty parameter for TLS/],
  ['ssl=require', /an ssl other than/],
])(
  'a DATABASE_URL with %s is an error, because its connections would fail or be in plain text',
  (parameter, fault) => {
    const read = () => readConfig({ ...secrets, DATABASE_URL: `postgres://db/payments?${parameter}` });
    expect(faultsOf(read)).toEqual([expect.stringMatching(fault)]);
  },
);

test.each([
  'ssl=true',
  'sslmode=verify-full&sslcert=&sslkey=',
  'sslmode=require&sslsni=1',
  'host=/run/postgresql',
])('a DATABASE_URL may have %s', (parameters) => {
  const DATABASE_URL = `postgres://db/payments?${parameters}`;
  expect(readConfig({ ...secrets, DATABASE_URL }).DATABASE_URL).toBe(DATABASE_URL);
});

test('webhooks are kept for at least a day', () => {
  const read = (WEBHOOK_RETENTION_LIVE: string) => readConfig({ ...secrets, WEBHOOK_RETENTION_LIVE });
  expect(read('24h').WEBHOOK_RETENTION_LIVE).toBe(86_400_000);
  expect(faultsOf(() => read('23h'))).toEqual(['WEBHOOK_RETENTION_LIVE must be at least 1d']);
  expect(faultsOf(() => read('soon'))[0]).toMatch(/^WEBHOOK_RETENTION_LIVE must be a duration/);
});

const sha256 = 'a'.repeat(64);

test.each([
  // Timers wait 24 days at most: a longer one would end at once.
  ['STOP_DELAY', '25d', 'must be at most 1d'],
  ['WEBHOOK_SCHEDULE_LIVE', '25d,5s', 'must be at most 24d'],
  // Each attempt would fail.
  ['WEBHOOK_EGRESS_PROXY', 'http://user:50%@proxy:3128', 'must have a percent-encoded user and password'],
  ['WEBHOOK_EGRESS_PROXY', 'http://us%4:1er@proxy:3128', 'must have a percent-encoded user and password'],
  ['DATABASE_URL', 'postgres://user:50%@db/payments', 'must have a percent-encoded user and password'],
  ['RATE_LIMIT_STORE', 'postgres://user:50%@db/counts', 'must have a percent-encoded user and password'],
  ['OIDC_ISSUER', 'https://me:hunter2@identity.example', 'must not have a user or password'],
  // None of these would be sent, or it would be sent in place of the path.
  ['SERVICES_URL', 'https://me:hunter2@services', 'must not have a user or password'],
  ['SERVICES_URL', 'https://services/?key=hunter2', 'must not have a query or fragment'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://collector/#traces', 'must not have a query or fragment'],
  ['SERVICE_TOKEN', 'hunter\n2', 'must be printable ASCII without spaces'],
  // Lanes and listening keep two.
  ['DATABASE_POOL_SIZE', '2', 'must be an integer from 3 to 1000'],
  // Node.js takes 0 for no limit.
  ['HTTP_REQUEST_TIMEOUT', '0s', 'must be at least 100ms'],
  // A session would have ended when it begins.
  ['DASHBOARD_SESSION_IDLE', '0s', 'must be at least 1s'],
  // No date that far from now can be stored.
  ['MERCHANT_REVIEW_PERIOD', '999999999d', 'must be at most 36500d'],
  ['SERVICES_URL', 'services:8082', 'must be an http or https URL'],
  ['SUPPORT_CONTACT', 'javascript:alert(1)', 'must be an email address or an https URL'],
  ['TEMPORAL_ADDRESS', 'https://temporal:7233', 'must be host:port such as localhost:7233'],
  ['TEMPORAL_ADDRESS', 'temporal:99999', 'must be host:port such as localhost:7233'],
  [
    'RATE_LIMIT_STORE',
    'redis://:secret@cache',
    'must be memory, postgresql or a URL such as postgres://user:password@host:5432/database',
  ],
  [
    'SERVICE_TOKENS',
    `a|${sha256}|saga;b|${sha256}|saga`,
    'gives two callers the same sha256 of the token in hex',
  ],
])('%s=%s cannot work, and is an error', (name, value, fault) => {
  expect(faultsOf(() => readConfig({ ...secrets, [name]: value }))).toEqual([`${name} ${fault}`]);
});

describe.each(['REFUND', 'PAYOUT'] as const)('the provider of %s', (kind) => {
  const [url, token] = [`${kind}_PROVIDER_URL`, `${kind}_PROVIDER_TOKEN`] as const;
  const read = (settings: Record<string, string>) => readConfig({ ...secrets, ...settings });

  test('is none by default', () => {
    expect(read({})[url]).toBeUndefined();
    expect(read({ [url]: 'none' })[url]).toBeUndefined();
  });

  test('has a URL with a token', () => {
    const config = read({ [url]: 'https://bank.example/', [token]: 'secret' });
    expect(config).toMatchObject({ [url]: 'https://bank.example', [token]: 'secret' });
  });

  test('without a token is one error', () => {
    expect(faultsOf(() => read({ [url]: 'https://bank.example' }))).toEqual([
      `${token} is required with ${url}`,
    ]);
  });

  test('has nothing in its URL that would not be sent', () => {
    const given = { [url]: 'https://me:hunter2@bank.example', [token]: 'secret' };
    expect(faultsOf(() => read(given))).toEqual([`${url} must not have a user or password`]);
  });

  test.each(['bank.example:443', 'grpc://bank.example', 'None'])('at %s is one error', (value) => {
    expect(faultsOf(() => read({ [url]: value }))).toEqual([`${url} must be none or an http or https URL`]);
  });
});

test('mutual TLS has all its faults reported at once', () => {
  const faults = faultsOf(() =>
    readConfig(
      {
        ...secrets,
        SERVICES_URL: 'http://services:8082',
        RPC_TLS_SERVER_NAME: 'services',
        RPC_TLS_CALLERS:
          'worker|spiffe://payments.example/worker|saga;reports|spiffe://payments.example/worker|saga',
        DASHBOARD_RPC_TLS_KEY_PATH: '/absent',
      },
      { required: ['SERVICES_URL'], oneOf: ['SERVICE_TOKEN', 'RPC_TLS_CERT_PATH'] },
    ),
  );
  expect(faults).toEqual([
    'RPC_TLS_CALLERS gives two callers the same URI of the certificate',
    'DASHBOARD_RPC_TLS_KEY_PATH must name a readable PEM file with a private key without a passphrase',
    'RPC_TLS_CERT_PATH is required with RPC_TLS_SERVER_NAME',
    'SERVICE_TOKEN or RPC_TLS_CERT_PATH is required',
  ]);
  expect(faultsOf(() => readConfig({ ...secrets, RPC_TLS_CALLERS: 'worker|worker|saga' }))).toEqual([
    'RPC_TLS_CALLERS must list name|URI of the certificate|grants, separated by ;',
  ]);
  const callers = 'worker|spiffe://payments.example/worker|saga';
  expect(faultsOf(() => readConfig({ ...secrets, RPC_TLS_CALLERS: callers }))).toEqual([
    'RPC_TLS_CERT_PATH is required with RPC_TLS_CALLERS',
  ]);
});

describe('a secured connection to Temporal', () => {
  const read = (settings: Record<string, string>) => readConfig({ ...secrets, ...settings });

  test('has all its faults reported at once, without what files contain', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'temporal-tls-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const key = join(folder, 'key.pem');
    await writeFile(key, 'hunter2');
    const faults = faultsOf(() =>
      read({
        TEMPORAL_TLS: 'false',
        TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(folder, 'absent.pem'),
        TEMPORAL_TLS_CLIENT_KEY_PATH: key,
        TEMPORAL_API_KEY: 'key',
        TEMPORAL_API_KEY_PATH: key,
      }),
    );
    expect(faults).toEqual([
      'TEMPORAL_TLS_SERVER_CA_CERT_PATH must name a readable PEM file with a certificate',
      'TEMPORAL_TLS_CLIENT_KEY_PATH must name a readable PEM file with a private key without a passphrase',
      'TEMPORAL_ADDRESS is required with TEMPORAL_TLS',
      'TEMPORAL_ADDRESS is required with TEMPORAL_API_KEY',
      'TEMPORAL_ADDRESS is required with TEMPORAL_API_KEY_PATH',
      'TEMPORAL_TLS must not be false with TEMPORAL_API_KEY, TEMPORAL_API_KEY_PATH',
      'TEMPORAL_API_KEY must not be set with TEMPORAL_API_KEY_PATH',
    ]);
  });

  test('has an API key that can be sent', () => {
    const TEMPORAL_ADDRESS = 'temporal:7233';
    const readKey = (TEMPORAL_API_KEY: string) => read({ TEMPORAL_ADDRESS, TEMPORAL_API_KEY });
    // As it is read from a file. The SDK would connect without it.
    expect(readKey('secret\n').TEMPORAL_API_KEY).toBe('secret');
    expect(faultsOf(() => readKey('sec ret'))).toEqual([
      'TEMPORAL_API_KEY must be printable ASCII without spaces',
    ]);
  });

  test('to an IPv6 address needs the name of the server', () => {
    const given = { TEMPORAL_ADDRESS: '[::1]:7233', TEMPORAL_TLS: 'true' };
    expect(faultsOf(() => read(given))).toEqual([
      'TEMPORAL_TLS_SERVER_NAME is required with TLS to an IPv6 address',
    ]);
    expect(read({ ...given, TEMPORAL_TLS_SERVER_NAME: 'temporal' }).TEMPORAL_TLS).toBe(true);
    expect(read({ TEMPORAL_ADDRESS: '[::1]:7233' }).TEMPORAL_ADDRESS).toBe('[::1]:7233');
  });

  test('with a client certificate needs its key', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'temporal-tls-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const { certificatePem } = await createAuthority();
    const path = join(folder, 'client.pem');
    await writeFile(path, certificatePem);
    const settings = { TEMPORAL_ADDRESS: 'temporal:7233', TEMPORAL_TLS_CLIENT_CERT_PATH: path };
    expect(faultsOf(() => read(settings))).toEqual([
      'TEMPORAL_TLS_CLIENT_KEY_PATH is required with TEMPORAL_TLS_CLIENT_CERT_PATH',
    ]);
  });
});
