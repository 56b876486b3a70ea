import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type Timestamp, timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { KEY_RINGS, readConfig, TEMPORAL_SECURITY } from '../services/platform/process/config.ts';
import { duration } from '../services/platform/process/setting-parsers.ts';
import { createLogger } from '../services/platform/process/telemetry.ts';
import { errorInfoOf } from '../services/platform/rpc/connect-errors.ts';
import { connectServices, openRpcTls } from '../services/platform/rpc/connect-services.ts';
import { remoteTransport } from '../services/platform/rpc/remote-transport.ts';

/** A wrong command line; its message is printed above the usage. */
export class UsageError extends Error {}

/** What a command line prints, and its exit code: 0, 1 for a failed call, 2 for a wrong command line. */
export interface CommandResult {
  readonly exitCode: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program whose first argument names one of its commands. */
export interface Program<Command extends string, Values, Output> {
  readonly usage: string;
  readonly options: Readonly<Record<Command, ParseArgsOptionsConfig>>;
  run(command: Command, values: Values, transport: Transport): Promise<Output>;
  /** Formats a result for people. With --json, results are printed as JSON instead. */
  format(output: Output): string;
}

/** Runs one command line against the services. Never rejects. */
export async function runProgram<Command extends string, Values extends { json?: boolean }, Output>(
  program: Program<Command, Values, Output>,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  try {
    return { exitCode: 0, stdout: `${await runCommand(program, args, environment)}\n`, stderr: '' };
  } catch (error) {
    if (error instanceof UsageError) {
      return { exitCode: 2, stdout: '', stderr: `${error.message}\n\n${program.usage}\n` };
    }
    return { exitCode: 1, stdout: '', stderr: `${describeError(error)}\n` };
  }
}

async function runCommand<Command extends string, Values extends { json?: boolean }, Output>(
  program: Program<Command, Values, Output>,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<string> {
  if (args.includes('--help') || args.includes('-h')) return program.usage;
  const [command, ...rest] = args;
  if (!command || !Object.hasOwn(program.options, command)) {
    throw new UsageError(command ? `unknown command ${command}` : 'a command is missing');
  }
  const values = parseValues<Values>(program.options[command as Command], rest);
  const output = await program.run(command as Command, values, await connect(environment));
  return values.json ? JSON.stringify(output, null, 2) : program.format(output);
}

function parseValues<Values>(options: ParseArgsOptionsConfig, args: readonly string[]): Values {
  try {
    return parseArgs({ args: [...args], options }).values as Values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** Prints the result of a command line and ends the process with its exit code. */
export function exitWith({ exitCode, stdout, stderr }: CommandResult): void {
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = exitCode;
}

/** The value of an option that a command requires. */
export function required<Name extends string>(values: { [N in Name]?: string }, name: Name): string {
  const value = values[name];
  if (!value) throw new UsageError(`--${name} is missing`);
  return value;
}

/** The seconds of --overlap; 24 hours by default. */
export const overlapSecondsOf = ({ overlap = '24h' }: { overlap?: string }): number =>
  Math.ceil(durationOf('overlap', overlap) / 1_000);

/** The time of --expires-in from now; undefined without it. */
export function expiryOf(values: { 'expires-in'?: string }): Timestamp | undefined {
  const expiresIn = values['expires-in'];
  if (expiresIn === undefined) return undefined;
  return timestampFromMs(Date.now() + durationOf('expires-in', expiresIn));
}

function durationOf(name: string, value: string): number {
  try {
    return duration(value);
  } catch (error) {
    throw new UsageError(`--${name} ${(error as Error).message}`);
  }
}

/** A time as programs print it; undefined for none. */
export const isoTime = (timestamp?: Timestamp) => timestamp && timestampDate(timestamp).toISOString();

/** The services at SERVICES_URL, else those that npm start runs on DATA_DIR. */
async function connect(environment: NodeJS.ProcessEnv): Promise<Transport> {
  const config = readConfig(environment, {
    unused: [...KEY_RINGS, ...TEMPORAL_SECURITY],
  });
  const { SERVICES_URL, DATA_DIR } = config;
  if (SERVICES_URL)
    return connectServices({ ...config, SERVICES_URL }, openRpcTls(config, createLogger('silent')));
  const path = join(DATA_DIR, 'demo.json');
  const demo = await readFile(path, 'utf8').catch(() => {
    throw new Error(`cannot read ${path}: run npm start first, or set SERVICES_URL and SERVICE_TOKEN`);
  });
  const { grpc } = JSON.parse(demo) as { grpc: { baseUrl: string; token: string } };
  return remoteTransport(grpc.baseUrl, grpc.token);
}

/** One line that says why a call failed. */
function describeError(error: unknown): string {
  if (!(error instanceof ConnectError)) return (error as Error).message;
  const reason = errorInfoOf(error)?.reason;
  if (reason) return `${reason}: ${error.rawMessage}`;
  if (error.code === Code.Unavailable) return `cannot reach the services: ${error.rawMessage}`;
  return error.message;
}
