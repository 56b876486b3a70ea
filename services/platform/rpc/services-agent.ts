import { Agent as PlainAgent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import type { ServicesConnector } from './services-connector.ts';

/** The values of Node's own agent: shorter than servers keep idle connections. */
const POOL = { keepAlive: true, scheduling: 'lifo', timeout: 5_000 } as const;

/**
 * Options of requests of node:http and node:https over these connections. Each request reads them again: once the TLS files
 * are replaced, it opens a new connection, and earlier connections close after their calls in progress.
 */
export function requestOptions({ connect, isSecure, tls }: ServicesConnector): {
  readonly agent: PlainAgent;
} {
  const newAgent = () => {
    const agent = isSecure ? new SecureAgent(POOL) : new PlainAgent(POOL);
    agent.createConnection = (options, callback) => {
      connect(options, (error, socket) => callback?.(error, socket as never));
      return undefined;
    };
    return agent;
  };
  let agent = newAgent();
  tls?.files.onReplaced(() => {
    const former = agent;
    agent = newAgent();
    retire(former);
  });
  return {
    get agent() {
      return agent;
    },
  };
}

/** Closes each connection once it is idle. */
function retire(agent: PlainAgent): void {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) socket.destroy();
}
