import type { GatewayApp } from '../../gateway/gateway-app.ts';
import { LISTEN_OPTIONS } from '../../gateway/plugins/listening.ts';

/** Makes a gateway listen on a free local port; returns the port. */
export async function listenOnFreePort(app: GatewayApp): Promise<number> {
  return Number(new URL(await app.listen({ ...LISTEN_OPTIONS, host: '127.0.0.1', port: 0 })).port);
}
