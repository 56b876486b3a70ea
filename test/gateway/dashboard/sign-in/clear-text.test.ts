import { afterEach, expect, test, vi } from 'vitest';
import { OpenIdClient } from '../../../../gateway/dashboard/sign-in/open-id-client.ts';

const FLOW = { state: 's'.repeat(43), nonce: 'n', codeVerifier: 'v'.repeat(43), returnPath: '/' };

afterEach(() => {
  vi.unstubAllGlobals();
});

/** A provider with this address of its token endpoint; returns the requests that it got. */
function provider(issuer: string, tokenEndpoint: string): string[] {
  const asked: string[] = [];
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: tokenEndpoint,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
  };
  vi.stubGlobal('fetch', async (address: string | URL) => {
    asked.push(String(address));
    const isDiscovery = String(address).includes('/.well-known/');
    return isDiscovery ? Response.json(metadata) : Response.json({ error: 'invalid_grant' }, { status: 400 });
  });
  return asked;
}

test.for([
  ['https://issuer.example', 'http://issuer.example/token', false],
  ['https://issuer.example', 'https://issuer.example/token', true],
  ['http://127.0.0.1:8091', 'http://127.0.0.1:8091/token', true],
  ['http://issuer.example', 'http://issuer.example/token', false],
] as const)('codes and secrets travel unencrypted on this machine only: %s, %s', async (row) => {
  const [issuer, tokenEndpoint, isAsked] = row;
  const asked = provider(issuer, tokenEndpoint);
  const redirectUri = () => 'https://pay.example/sign-in/callback';
  const client = new OpenIdClient({ issuer, clientId: 'dashboard', clientSecret: 'secret', redirectUri });
  await expect(client.identify(`?code=c&state=${FLOW.state}`, FLOW)).rejects.toThrow();
  expect(asked.includes(tokenEndpoint)).toBe(isAsked);
});
