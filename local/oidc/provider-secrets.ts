import { generateKeyPairSync, type JsonWebKey, randomBytes, randomUUID } from 'node:crypto';
import type { DataFolder } from '../data-folder.ts';
import { StartError } from '../start-error.ts';
import type { DemoPerson } from './demo-people.ts';

const FILE = 'oidc-provider.json';
const KEY_BITS = 2048;

/** What the local OpenID provider keeps to itself, made once for a data folder. */
export interface ProviderSecrets {
  /** The dashboard's at the token endpoint. */
  readonly clientSecret: string;
  /** Signs the provider's cookies. */
  readonly cookieKey: string;
  /** Signs ID tokens: an RSA private key. */
  readonly signingKey: JsonWebKey & { readonly kty: 'RSA'; readonly kid: string };
  /** By subject, in clear, so that demo.json can name them. */
  readonly passwords: Readonly<Record<string, string>>;
}

/**
 * The secrets of a data folder's provider, from oidc-provider.json (0600); what is missing there is made and kept.
 * StartError DATA_FOLDER_UNREADABLE.
 */
export function loadProviderSecrets(folder: DataFolder, people: readonly DemoPerson[]): ProviderSecrets {
  const kept = parse(folder);
  const newPasswords = Object.fromEntries(people.map(({ subject }) => [subject, newSecret()]));
  const secrets: ProviderSecrets = {
    clientSecret: kept.clientSecret ?? newSecret(),
    cookieKey: kept.cookieKey ?? newSecret(),
    signingKey: kept.signingKey ?? newSigningKey(),
    passwords: { ...newPasswords, ...kept.passwords },
  };
  const text = `${JSON.stringify(secrets, null, 2)}\n`;
  if (folder.read(FILE) !== text) folder.write(FILE, text);
  return secrets;
}

function parse(folder: DataFolder): Partial<ProviderSecrets> {
  const text = folder.read(FILE);
  if (text === undefined) return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = `${folder.file(FILE)} is not valid JSON: delete it, and everybody gets a new password`;
    throw new StartError('DATA_FOLDER_UNREADABLE', message, { cause: error });
  }
}

const newSecret = () => randomBytes(18).toString('base64url');

function newSigningKey(): ProviderSecrets['signingKey'] {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: KEY_BITS });
  return { ...privateKey.export({ format: 'jwk' }), kty: 'RSA', kid: randomUUID(), use: 'sig', alg: 'RS256' };
}
