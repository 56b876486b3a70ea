import { Agent, type AgentOptions } from 'node:https';
import type { TlsFiles } from '../process/tls-files.ts';
import { lookupServices } from './lookup-services.ts';

/** The values of Node's own agent: shorter than servers keep idle connections. */
const POOL: AgentOptions = {
  keepAlive: true,
  scheduling: 'lifo',
  timeout: 5_000,
  maxCachedSessions: 0,
  lookup: lookupServices,
};

/** How a client authenticates, and which server it expects. */
export interface ClientTls {
  readonly files: TlsFiles;
  /** The name in the certificate of the server. Default: the host of the URL. */
  readonly serverName?: string | undefined;
}

/**
 * Options of HTTPS requests with a client certificate. Each request reads them again: once the files are replaced, it
 * opens a new connection, and earlier connections close after their calls in progress.
 */
export function secureRequestOptions({ files, serverName }: ClientTls): { readonly agent: Agent } {
  const newAgent = () =>
    new Agent({ ...POOL, ...files.current, ...(serverName !== undefined && { servername: serverName }) });
  let agent = newAgent();
  files.onReplaced(() => {
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
function retire(agent: Agent): void {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) socket.destroy();
}
