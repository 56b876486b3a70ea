import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { StartError } from './start-error.ts';

export interface NamedPort {
  /** Names the port in messages. */
  readonly setting: string;
  /** 0: any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
}

/**
 * Throws one StartError that lists every port that cannot be opened: PORT_IN_USE, PORT_NOT_ALLOWED. Stop the orphaned
 * processes of a killed start first.
 */
export async function assertPortsFree(ports: readonly NamedPort[]): Promise<void> {
  const faults = [...findDuplicates(ports), ...(await Promise.all(ports.map(findFault)))].filter(
    (fault) => fault !== undefined,
  );
  const [first] = faults;
  if (first) throw new StartError(first.reason, faults.map(({ message }) => message).join('; '));
}

/**
 * Below the ephemeral range of Linux and macOS, so no outgoing connection or listener on port 0 takes one of these
 * meanwhile.
 */
const [FIRST_PORT, LAST_PORT] = [20_000, 32_000];

/** A port of the loopback address on which no process listens now. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if ((await tryListen(port, '127.0.0.1')) === undefined) return port;
  }
}

type Fault = Pick<StartError, 'reason' | 'message'>;

function findDuplicates(ports: readonly NamedPort[]): Fault[] {
  return ports.flatMap(({ setting, port }, index) => {
    const duplicate = ports.slice(0, index).find((other) => port !== 0 && other.port === port);
    if (!duplicate) return [];
    return [{ reason: 'PORT_IN_USE', message: `${duplicate.setting} and ${setting} are both ${port}` }];
  });
}

async function findFault({ setting, port, host = '127.0.0.1' }: NamedPort): Promise<Fault | undefined> {
  if (port === 0) return undefined;
  // Clients that resolve localhost to [::1] would reach a process that listens there.
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

/** Undefined when the port can be opened, else the error's code. */
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
