import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { portOf } from '../../../support/port-of.ts';

/** The provider's false statements. */
export interface Lies {
  /** Claims of the ID token; undefined removes one. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Signs with a key that it does not publish. */
  readonly foreignKey?: boolean;
  /** Publishes and uses only its next key: not a lie, but a change without notice. */
  readonly nextKey?: boolean;
  /** Removes the signature. */
  readonly unsigned?: boolean;
  readonly userinfo?: Readonly<Record<string, unknown>>;
  /** The token endpoint's answer. */
  readonly token?: { readonly status: number; readonly type: string; readonly body: string };
  /** Answers discovery with this status. */
  readonly discoveryStatus?: number;
  /** Members of the discovery document. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Parameters of the response through the browser. */
  readonly answer?: Readonly<Record<string, string>>;
}

/** An OpenID provider that authenticates everybody at once, and lies as configured. */
export interface LyingProvider {
  readonly issuer: string;
  lies: Lies;
  /** What the client last sent to the token endpoint, and received. */
  readonly shown: { authorization?: string | undefined; form?: URLSearchParams; idToken?: string };
  stop(): Promise<void>;
}

const [own, next, foreign] = [newKey(), newKey(), newKey()];

/** Starts it at this path of a port; its issuer ends with the path. */
export async function startLyingProvider(port: number, clientId: string, path = ''): Promise<LyingProvider> {
  const server = createServer((request, response) => void answer(request, response)).listen(
    port,
    '127.0.0.1',
  );
  const origin = `http://127.0.0.1:${await portOf(server)}`;
  const issuer = `${origin}${path}`;
  const nonces = new Map<string, string>();
  const provider: LyingProvider = {
    issuer,
    lies: {},
    shown: {},
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
  async function answer(request: IncomingMessage, response: ServerResponse) {
    const url = new URL(request.url!, issuer);
    const { lies, shown } = provider;
    const json = (value: unknown) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    switch (url.pathname.slice(path.replace(/\/$/, '').length)) {
      case '/.well-known/openid-configuration':
        if (lies.discoveryStatus) return response.writeHead(lies.discoveryStatus).end();
        return json({ ...metadata(issuer), ...lies.metadata });
      case '/jwks':
        return json({
          keys: [
            lies.nextKey
              ? { ...next.publicKey.export({ format: 'jwk' }), kid: 'next', use: 'sig', alg: 'RS256' }
              : { ...own.publicKey.export({ format: 'jwk' }), kid: 'own', use: 'sig', alg: 'RS256' },
          ],
        });
      case '/auth': {
        const code = crypto.randomUUID();
        nonces.set(code, url.searchParams.get('nonce')!);
        const back = new URL(url.searchParams.get('redirect_uri')!);
        const state = url.searchParams.get('state')!;
        back.search = new URLSearchParams({ code, state, ...lies.answer }).toString();
        return response.writeHead(303, { location: back.href }).end();
      }
      case '/token': {
        shown.authorization = request.headers.authorization;
        shown.form = new URLSearchParams(await text(request));
        if (lies.token) {
          const { status, type, body } = lies.token;
          return response.writeHead(status, { 'content-type': type }).end(body);
        }
        const nonce = nonces.get(shown.form.get('code')!);
        shown.idToken = idToken(lies, { ...truth(issuer, clientId), nonce });
        return json({
          access_token: 'access',
          token_type: 'Bearer',
          expires_in: 60,
          id_token: shown.idToken,
        });
      }
      case '/me':
        return json({ sub: 'ana', ...lies.userinfo });
      default:
        return response.writeHead(404).end();
    }
  }
  return provider;
}

const metadata = (issuer: string, base = issuer.replace(/\/$/, '')) => ({
  authorization_endpoint: `${base}/auth`,
  token_endpoint: `${base}/token`,
  jwks_uri: `${base}/jwks`,
  issuer,
  userinfo_endpoint: `${base}/me`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
});

const truth = (issuer: string, clientId: string) => {
  const now = Math.floor(Date.now() / 1_000);
  return {
    iss: issuer,
    sub: 'ana',
    aud: clientId,
    iat: now,
    exp: now + 300,
    email: 'ana@shop.example',
    email_verified: true,
    name: 'Ana',
  };
};

function idToken({ claims, header, nextKey, foreignKey, unsigned }: Lies, true_: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${encode({ alg: 'RS256', kid: nextKey ? 'next' : 'own', ...header })}.${encode({ ...true_, ...claims })}`;
  const { privateKey } = foreignKey ? foreign : nextKey ? next : own;
  return `${input}.${unsigned ? '' : sign('RSA-SHA256', Buffer.from(input), privateKey).toString('base64url')}`;
}

function newKey(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}
