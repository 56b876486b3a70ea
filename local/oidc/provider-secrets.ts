import { generateKeyPairSync, type JsonWebKey, randomBytes, randomUUID } from 'node:crypto';
import type { DataFolder } from '../data-folder.ts';
import type { DemoPerson } from './demo-people.ts';

const FILE = 'oidc-provider.json';
const KEY_BITS = 2048;

/** The secrets of the local OpenID provider, generated once per data folder. */
export interface ProviderSecrets {
  readonly clientSecret: string;
  /** Signs the provider's cookies. */
  readonly cookieKey: string;
  /** Signs ID tokens: an RSA private key. */
  readonly signingKey: JsonWebKey & { readonly kty: 'RSA'; readonly kid: string };
  /** By subject, in plain text, because demo.json shows one. */
  readonly passwords: Readonly<Record<string, string>>;
}

/**
 * Reads oidc-provider.json (0600) of a data folder; generates and saves the secrets that are missing. Throws StartError
 * DATA_FOLDER_UNREADABLE for a damaged file.
 */
export function loadProviderSecrets(folder: DataFolder, people: readonly DemoPerson[]): ProviderSecrets {
  const saved = (folder.readJson(FILE, 'delete it to generate new passwords') ??
    {}) as Partial<ProviderSecrets>;
  const newPasswords = Object.fromEntries(people.map(({ subject }) => [subject, newSecret()]));
  const secrets: ProviderSecrets = {
    clientSecret: saved.clientSecret ?? newSecret(),
    cookieKey: saved.cookieKey ?? newSecret(),
    signingKey: saved.signingKey ?? newSigningKey(),
    passwords: { ...newPasswords, ...saved.passwords },
  };
  folder.writeJson(FILE, secrets);
  return secrets;
}

const newSecret = () => randomBytes(18).toString('base64url');

function newSigningKey(): ProviderSecrets['signingKey'] {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: KEY_BITS });
  return { ...privateKey.export({ format: 'jwk' }), kty: 'RSA', kid: randomUUID(), use: 'sig', alg: 'RS256' };
}
