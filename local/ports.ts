import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { StartError } from './start-error.ts';

/** A port that a setting names. */
export interface NamedPort {
  /** Name of the setting, for the message. */
  readonly setting: string;
  /** 0: any free one, which is never in use. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
}

/**
 * Throws one StartError that tells every port that cannot be had: PORT_IN_USE, PORT_NOT_ALLOWED. Children left over
 * from a killed start are to be stopped before.
 */
export async function assertPortsFree(ports: readonly NamedPort[]): Promise<void> {
  const faults = [...findTwins(ports), ...(await Promise.all(ports.map(findFault)))].filter(
    (fault) => fault !== undefined,
  );
  const [first] = faults;
  if (first) throw new StartError(first.reason, faults.map(({ message }) => message).join('; '));
}

/** None of these is given to who asks for any port, or calls somebody: they stay free until they are taken. */
const [FIRST_PORT, LAST_PORT] = [20_000, 32_000];

/** A port of the loopback address that nobody listens on now. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if ((await tryListen(port, '127.0.0.1')) === undefined) return port;
  }
}

type Fault = Pick<StartError, 'reason' | 'message'>;

function findTwins(ports: readonly NamedPort[]): Fault[] {
  return ports.flatMap(({ setting, port }, index) => {
    const twin = ports.slice(0, index).find((other) => port !== 0 && other.port === port);
    if (!twin) return [];
    return [{ reason: 'PORT_IN_USE', message: `${twin.setting} and ${setting} are both ${port}` }];
  });
}

async function findFault({ setting, port, host = '127.0.0.1' }: NamedPort): Promise<Fault | undefined> {
  if (port === 0) return undefined;
  // Who listens on [::1] takes the calls that people send to localhost, so that counts as in use too.
  for (const address of new Set([host, '::1'])) {
    const code = await tryListen(port, address);
    if (code === 'EADDRINUSE') {
      return { reason: 'PORT_IN_USE', message: `${setting} ${port} is in use by another process` };
    }
    if (code !== undefined && address === host) {
      return {
        reason: 'PORT_NOT_ALLOWED',
        message: `${setting} ${port} cannot be opened on ${host}: ${code}`,
      };
    }
  }
  return undefined;
}

/** Undefined when it could listen, else the error's code. */
async function tryListen(port: number, host: string): Promise<string | undefined> {
  const server = createServer().listen({ port, host, exclusive: true });
  try {
    await once(server, 'listening');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  }
  server.close();
  await once(server, 'close');
  return undefined;
}
