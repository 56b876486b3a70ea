import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OidcProviderOptions } from './provider-app.ts';
import { ProviderStore } from './provider-store.ts';

const STORE_FILE = 'oidc-provider.db';

export interface OidcProvider {
  /** `http://127.0.0.1:<port>` */
  readonly issuer: string;
  stop(): Promise<void>;
}

/**
 * Starts an OpenID provider for local use, on loopback only. Its one confidential client is the dashboard; people sign
 * in with email and password. PKCE is required, consent is not requested, and sessions survive a restart.
 */
export async function startOidcProvider(options: OidcProviderOptions): Promise<OidcProvider> {
  const { folder, port } = options;
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store = new ProviderStore(folder.privateFile(STORE_FILE));
  // oidc-provider takes 8 MB, so it is loaded at the first sign-in.
  let app: Promise<RequestListener> | undefined;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    app ??= import('./provider-app.ts').then(({ providerApp }) => providerApp(issuer, options, store));
    (await app)(request, response);
  };
  server.on('request', (request, response) => {
    answer(request, response).catch((error: Error) => {
      // The next request tries again.
      app = undefined;
      response.writeHead(500).end(`The OpenID provider cannot start: ${error.message}`);
    });
  });
  const stop = async () => {
    server.close();
    server.closeAllConnections();
    store.close();
  };
  return { issuer, stop };
}
