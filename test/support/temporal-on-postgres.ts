import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client, Connection, type TLSConfig } from '@temporalio/client';
import { inject } from 'vitest';
import { findFreePort } from '../../local/ports.ts';
import { isExecutable } from '../../local/temporal/executables.ts';
import { buildTemporal, builtTemporal, type TemporalProgram } from '../../local/temporal/temporal-build.ts';
import { prepareNamespace } from '../../workflows/temporal/temporal-namespace.ts';
import { mountedFiles, readComposeFile } from './compose-file.ts';
import { query } from './sql.ts';
import { answers, type TestTemporal, withSearchLock } from './temporal.ts';

/** The server's PEM files, which it reads every second; it requires a certificate of its clients. */
export interface TemporalTls {
  /** Of the authorities that have signed the certificates of the server and of its clients. */
  readonly caFile: string;
  /** For `localhost`, as server and as client: the parts of the server call each other with it. */
  readonly certificateFile: string;
  readonly keyFile: string;
  /** For the test's own client. */
  readonly client: TLSConfig;
}

const NAMESPACE = 'default';
const SERVICES = ['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'] as const;

/**
 * Temporal's server with its state in PostgreSQL, as docker-compose.yml runs it: the same schema command, settings and
 * dynamic configuration, in databases of the run's PostgreSQL. The programs are built from the pinned Go module. Its state
 * outlives a kill.
 */
export async function startTemporalOnPostgres(
  options: { readonly tls?: TemporalTls } = {},
): Promise<TestTemporal> {
  const { tls } = options;
  const server = await builtProgram('temporal-server');
  const programs = dirname(await builtProgram('temporal-sql-tool'));
  const databases = newDatabases();
  await createRole(databases);
  const environment = await serverEnvironment(databases);
  const address = `${tls ? 'localhost' : '127.0.0.1'}:${environment.FRONTEND_GRPC_PORT}`;
  const connection = Connection.lazy({ address, ...(tls && { tls: tls.client }) });
  let child: ChildProcessWithoutNullStreams | undefined;

  async function start() {
    // On every start, as compose does.
    await updateSchema(programs, databases);
    for (let triesLeft = 2; ; triesLeft -= 1) {
      child = spawn(server, ['start'], { env: { ...environment, ...(tls && tlsEnvironment(tls)) } });
      const logged = lastOutputOf(child);
      try {
        await answers(child, () =>
          connection.withDeadline(Date.now() + 1_000, () => connection.workflowService.getSystemInfo({})),
        );
        await answers(child, () => prepareNamespace(connection, NAMESPACE));
        return;
      } catch (error) {
        // On a full machine it may end while it starts; compose would start it again.
        if (child.exitCode === null || triesLeft === 0) throw error;
        console.info(`${error}, and is started again. Its last output:\n${logged()}`);
      }
    }
  }
  async function kill() {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  await start();
  return {
    address,
    namespace: NAMESPACE,
    get pid() {
      return child?.pid;
    },
    client: new Client({ connection, namespace: NAMESPACE }),
    kill,
    start,
    async loseState() {
      await drop(databases);
    },
    async [Symbol.asyncDispose]() {
      await connection.close();
      await kill();
      await drop(databases);
      await runSql(`drop role ${databases.role}`);
    },
  };
}

/** The end of what a process writes. */
function lastOutputOf({ stdout, stderr }: ChildProcessWithoutNullStreams): () => string {
  let output = '';
  for (const stream of [stdout, stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-4_000);
    });
  }
  return () => output;
}

/** Stand-ins for the databases and the role of docker-compose.yml. */
interface Databases {
  readonly temporal: string;
  readonly temporal_visibility: string;
  readonly role: string;
}

function newDatabases(): Databases {
  const id = randomUUID().slice(0, 8);
  return {
    temporal: `temporal_${id}`,
    temporal_visibility: `temporal_visibility_${id}`,
    role: `temporal_role_${id}`,
  };
}

const PASSWORD = 'temporal';

/** With the rights that compose gives it. Temporal's driver refuses the cheap passwords of the run's PostgreSQL. */
const createRole = ({ role }: Databases) =>
  runSql('set scram_iterations = 4096', `create role ${role} login createdb password '${PASSWORD}'`);

const drop = ({ temporal, temporal_visibility }: Databases) =>
  runSql(...[temporal, temporal_visibility].map((name) => `drop database if exists ${name} with (force)`));

const runSql = (...statements: string[]) => query(inject('postgresUrl'), ...statements);

/** Built by the pinned module once per machine, as the dev server is. */
function builtProgram(program: TemporalProgram): Promise<string> {
  return withSearchLock(async (search) => {
    const built = builtTemporal(search.environment, program);
    return isExecutable(built) ? built : buildTemporal({ ...search, program, onBuild: () => undefined });
  });
}

/** Runs the command of compose's container `temporal-schema`. */
async function updateSchema(programs: string, databases: Databases): Promise<void> {
  const { command, environment } = (await readComposeFile()).containers['temporal-schema']!;
  const { hostname, port } = new URL(inject('postgresUrl'));
  const [shell, ...args] = command!.map((word) =>
    word.replaceAll(
      /--db (\w+)/g,
      (_, name: 'temporal' | 'temporal_visibility') => `--db ${databases[name]}`,
    ),
  );
  await promisify(execFile)(shell!, args, {
    env: {
      ...environment,
      PATH: [programs, process.env.PATH].join(delimiter),
      SQL_HOST: hostname,
      SQL_PORT: port,
      SQL_USER: databases.role,
      SQL_PASSWORD: PASSWORD,
    },
  });
}

/** The environment of compose's container `temporal`, with ports and databases of this server alone. */
async function serverEnvironment(databases: Databases) {
  const temporal = (await readComposeFile()).containers.temporal!;
  const { DYNAMIC_CONFIG_FILE_PATH: dynamicConfig } = temporal.environment!;
  const { hostname, port } = new URL(inject('postgresUrl'));
  const environment: Record<string, string> = {
    ...temporal.environment,
    DYNAMIC_CONFIG_FILE_PATH: fileURLToPath(mountedFiles(temporal).get(dynamicConfig!)!),
    POSTGRES_SEEDS: hostname,
    DB_PORT: port,
    POSTGRES_USER: databases.role,
    POSTGRES_PWD: PASSWORD,
    DBNAME: databases.temporal,
    VISIBILITY_DBNAME: databases.temporal_visibility,
    BIND_ON_IP: '127.0.0.1',
    FRONTEND_HTTP_PORT: `${await findFreePort()}`,
  };
  for (const service of SERVICES) {
    environment[`${service}_GRPC_PORT`] = `${await findFreePort()}`;
    environment[`${service}_MEMBERSHIP_PORT`] = `${await findFreePort()}`;
  }
  return environment;
}

function tlsEnvironment({ caFile, certificateFile, keyFile }: TemporalTls): Record<string, string> {
  return {
    TEMPORAL_TLS_REQUIRE_CLIENT_AUTH: 'true',
    TEMPORAL_TLS_SERVER_CA_CERT: caFile,
    TEMPORAL_TLS_SERVER_CERT: certificateFile,
    TEMPORAL_TLS_SERVER_KEY: keyFile,
    TEMPORAL_TLS_INTERNODE_SERVER_NAME: 'localhost',
    TEMPORAL_TLS_FRONTEND_CERT: certificateFile,
    TEMPORAL_TLS_FRONTEND_KEY: keyFile,
    TEMPORAL_TLS_FRONTEND_SERVER_NAME: 'localhost',
    TEMPORAL_TLS_CLIENT1_CA_CERT: caFile,
    TEMPORAL_TLS_CLIENT2_CA_CERT: caFile,
    TEMPORAL_TLS_REFRESH_INTERVAL: '1s',
  };
}
