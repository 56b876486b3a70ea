import { createHash } from 'node:crypto';
import { ALL_GRANTS } from '../../../../services/platform/rpc/grants.ts';
import { createRpcServer } from '../../../../services/platform/rpc/rpc-server.ts';
import { portOf } from '../../../support/port-of.ts';

/** An internal port on this machine. By default it serves nothing, and the token `t` has every grant. */
export async function openPort(options: Partial<Parameters<typeof createRpcServer>[0]>) {
  const tokens = [{ name: 'test', tokenSha256: sha256Of('t'), grants: ALL_GRANTS }];
  const server = createRpcServer({ bindings: [], interceptors: [], tokens, ...options });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const port = await portOf(server.server);
  return { server, port, url: `http://127.0.0.1:${port}` };
}

export const sha256Of = (token: string) => createHash('sha256').update(token).digest('hex');
