import { readFile } from 'node:fs/promises';
import { parseSync, Visitor } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { readImports, type SourceImport, sourceFiles } from '../../../architecture/source-imports.ts';

const ROOT = new URL('../../../../', import.meta.url);
const GUARD = 'services/platform/egress/';

/** Modules of Node by which code can reach a host, or load what can. */
const REACHING =
  /^(node:)?(net|tls|http|https|http2|dgram|dns|dns\/promises|quic|inspector|child_process|cluster|worker_threads|module|vm|wasi)$/;

/** Packages that open no connection. Check that before you add another. */
const SILENT = new Set([
  ...['@bufbuild/protobuf', '@bufbuild/protobuf/wkt', '@bufbuild/protobuf/codegenv2', '@connectrpc/connect'],
  '@connectrpc/connect/protocol-connect',
  '@bufbuild/protovalidate/gen/buf/validate/validate_pb.js',
  ...['@temporalio/activity', '@temporalio/common', '@temporalio/proto', '@temporalio/workflow'],
  ...['@bufbuild/protobuf/reflect', '@bufbuild/protovalidate', 'ipaddr.js', 'pino', 'prom-client', 'uuid'],
  ...[
    '@opentelemetry/api',
    '@opentelemetry/context-async-hooks',
    '@opentelemetry/resources',
    '@opentelemetry/sdk-trace',
  ],
  ...['kysely', 'safe-stable-stringify', 'typebox', 'typebox/compile'],
]);

/**
 * The files that may open our own connections (to the services, the database, Temporal and the mail server) and
 * listeners.
 */
const OWN: Readonly<Record<string, RegExp>> = {
  undici: /^services\/platform\/rpc\/(services-connector|unary-exchange)\.ts$/,
  '@connectrpc/connect-node': /^services\/platform\/rpc\/remote-transport\.ts$/,
  '@temporalio/client': /^workflows\//,
  '@temporalio/worker': /^workflows\//,
  nodemailer: /^workflows\/accounts\/smtp-mailer\.ts$/,
  // Listens, for operations and those who operate Temporal, and sends nothing by itself.
  fastify: /^(services\/platform\/process\/ops-server|workflows\/codec-server)\.ts$/,
  '@fastify/cors': /^workflows\/codec-server\.ts$/,
  // To the collector of traces that the settings name.
  '@opentelemetry/exporter-trace-otlp-http': /^services\/platform\/tracing\/export-traces\.ts$/,
  pg: /^services\/platform\/database\//,
  '@mikro-orm/postgresql': /^services\/(platform\/(database|reads)\/|webhooks\/\w+\/\w+\.entity\.ts$)/,
  // The operator's own payload codec.
  '(computed)': /^workflows\/temporal\/custom-codec\.ts$/,
  // Forks the process that bundles the workflow code.
  'node:child_process': /^workflows\/workflow-bundle\.ts$/,
  // BlockList and isIP; the connections to the database and, with a deadline, to the mail server.
  'node:net':
    /^(services\/platform\/(process\/setting-parsers|database\/connection-settings|rpc\/services-connector)|workflows\/(temporal\/tls-refusal|accounts\/smtp-mailer))\.ts$/,
  // Checks certificates, and finds out why Temporal refuses a connection.
  'node:tls': /^(services\/platform\/process\/tls-files|workflows\/temporal\/tls-refusal)\.ts$/,
  // The addresses of the services.
  'node:dns': /^services\/platform\/rpc\/lookup-services\.ts$/,
  // The agents of connections to the services.
  'node:http': /^services\/platform\/rpc\/services-agent\.ts$/,
  'node:https': /^services\/platform\/rpc\/services-agent\.ts$/,
};

/** Globals that reach a host, and ways to load a module without an import. */
const FORBIDDEN_NAMES =
  /^(fetch|WebSocket|WebSocketStream|EventSource|XMLHttpRequest|RTCPeerConnection|require|createRequire|getBuiltinModule|eval|Function)$/;

/** Our own files that run when these do. */
function reachedFrom(start: RegExp, all: readonly SourceImport[]): string[] {
  const reached = new Set(all.map(({ from }) => from).filter((file) => start.test(file)));
  for (const file of reached) {
    for (const { from, to } of all) if (from === file && isOurs(to)) reached.add(to);
  }
  return [...reached].sort();
}

const isOurs = (to: string) => /^(services|workflows|gateway|local|proto)\//.test(to);

const imports = (await readImports(await sourceFiles())).filter(({ typeOnly }) => !typeOnly);
const worker = reachedFrom(/^workflows\//, imports);
const sending = reachedFrom(/^services\/(webhook-lanes\.ts$|webhooks\/(lanes|attempts)\/)/, imports);

/** Imports by which a file could reach a host without the guard. */
function unguardedImports(files: readonly string[], all: readonly SourceImport[]): string[] {
  return all
    .filter(({ from, to }) => files.includes(from) && !from.startsWith(GUARD) && !isOurs(to))
    .filter(({ to }) => (to.startsWith('node:') ? REACHING.test(to) : !SILENT.has(to)))
    .filter(({ from, to }) => !OWN[to]?.test(from))
    .map(({ from, to }) => `${from} imports ${to}`);
}

/** Names in a source, also those of properties, that a pattern forbids. */
function namesIn(file: string, source: string, forbidden: RegExp): string[] {
  const found = new Set<string>();
  const note = (name: string) => forbidden.test(name) && found.add(`${file} names ${name}`);
  new Visitor({
    Identifier: ({ name }) => void note(name),
    Literal: ({ value }) => void (typeof value === 'string' && note(value)),
  }).visit(parseSync(file, source).program);
  return [...found];
}

async function namesInFiles(files: readonly string[], forbidden: RegExp): Promise<string[]> {
  const ours = files.filter((file) => file.endsWith('.ts'));
  const found = ours.map(async (file) =>
    namesIn(file, await readFile(new URL(file, ROOT), 'utf8'), forbidden),
  );
  return (await Promise.all(found)).flat();
}

describe('the worker', () => {
  it('does not import the guard or anything else that could reach a host', () => {
    expect(worker).toContain('workflows/main.ts');
    expect(worker).not.toContain(`${GUARD}guarded-connector.ts`);
    expect(unguardedImports(worker, imports)).toEqual([]);
  });

  it('uses no global that could reach a host', async () => {
    expect(await namesInFiles(worker, FORBIDDEN_NAMES)).toEqual([]);
  });
});

describe('the delivery of webhooks', () => {
  it('imports nothing that could reach a host except the guard and the database', () => {
    expect(sending).toContain(`${GUARD}guarded-connector.ts`);
    expect(unguardedImports(sending, imports)).toEqual([]);
  });

  it('uses no global that could reach a host', async () => {
    expect(await namesInFiles(sending, FORBIDDEN_NAMES)).toEqual([]);
  });

  it('gets connections from the guard in one place, which checks the URL first', async () => {
    const users = await namesInFiles(sending, /^dispatcherFor$/);
    expect(users.map((use) => use.split(' ')[0])).toEqual([
      `${GUARD}egress-guard.ts`,
      'services/webhooks/attempts/send-attempt.ts',
    ]);
  });

  it('creates pools and connectors in the guard only, and undici pools in guarded pools only', async () => {
    const users = await namesInFiles(sending, /^(createGuardedConnector|createGuardedPools)$/);
    expect(users.filter((use) => !use.startsWith(GUARD))).toEqual([]);
    expect(imports.filter(({ from, to }) => sending.includes(from) && to === 'undici')).toEqual([
      { from: `${GUARD}egress-error.ts`, to: 'undici', typeOnly: false },
      { from: `${GUARD}guarded-pools.ts`, to: 'undici', typeOnly: false },
    ]);
    const source = await readFile(new URL(`${GUARD}egress-error.ts`, ROOT), 'utf8');
    expect(namesIn('', source, /^(Agent|Client|Pool|ProxyAgent|request|stream|pipeline|connect)$/)).toEqual(
      [],
    );
  });
});

describe('the webhooks service', () => {
  it('imports nothing that could reach a subscription’s host except the guard', () => {
    const own = imports.filter(({ from }) => from.startsWith('services/webhooks/'));
    expect(own.filter(({ to }) => REACHING.test(to) || to === 'undici')).toEqual([]);
  });

  it('uses no global that could reach a host', async () => {
    const files = (await sourceFiles()).filter((file) => file.startsWith('services/webhooks/'));
    expect(await namesInFiles(files, FORBIDDEN_NAMES)).toEqual([]);
  });
});

describe('the rule', () => {
  const imported = (from: string, to: string): SourceImport => ({ from, to, typeOnly: false });

  it.each([
    'undici',
    'node:https',
    'http',
    'node:dgram',
    'node:child_process',
    'got',
    '@connectrpc/connect-node',
  ])('finds the import of %s at the end of an import chain', (to) => {
    const all = [
      imported('workflows/webhooks/send-attempt.ts', 'services/platform/elsewhere.ts'),
      imported('services/platform/elsewhere.ts', to),
    ];
    expect(unguardedImports(reachedFrom(/^workflows\//, all), all)).toEqual([
      `services/platform/elsewhere.ts imports ${to}`,
    ]);
  });

  it.each([
    'await fetch(url)',
    'await globalThis.fetch(url)',
    "await globalThis['fetch'](url)",
    'const { fetch: send } = globalThis',
    'new WebSocket(url)',
    "process.getBuiltinModule('node:net')",
  ])('finds %j', (source) => {
    expect(namesIn('x.ts', source, FORBIDDEN_NAMES)).toHaveLength(1);
  });
});
