import { createHash, randomBytes } from 'node:crypto';
import type { KEY_RINGS } from '../services/platform/process/config.ts';
import type { Caller } from '../services/platform/rpc/call-context.ts';
import type { DataFolder } from './data-folder.ts';

const FILE = 'secrets.json';

/** Secrets generated once per data folder. */
export interface GeneratedSecrets {
  /** By setting: `v1:<base64 of 32 bytes>`. */
  readonly keyRings: Readonly<Record<(typeof KEY_RINGS)[number], string>>;
  /** By caller, in plain text: `mps_` and 256 random bits. */
  readonly serviceTokens: Readonly<Record<string, string>>;
}

/**
 * Reads secrets.json (0600) of a data folder; generates and saves those that are missing. Never overwrites a damaged
 * file, because data is encrypted with its keys: throws StartError DATA_FOLDER_UNREADABLE.
 */
export function loadGeneratedSecrets(folder: DataFolder, callers: readonly string[]): GeneratedSecrets {
  const advice = 'restore it, or delete DATA_DIR to start over';
  const saved = (folder.readJson(FILE, advice) ?? {}) as Partial<GeneratedSecrets>;
  const secrets: GeneratedSecrets = {
    keyRings: { ...newKeyRings(), ...saved.keyRings },
    serviceTokens: {
      ...Object.fromEntries(callers.map((caller) => [caller, newServiceToken()])),
      ...saved.serviceTokens,
    },
  };
  folder.writeJson(FILE, secrets);
  return secrets;
}

export function newKeyRings(): GeneratedSecrets['keyRings'] {
  const ring = () => `v1:${randomBytes(32).toString('base64')}`;
  return { API_KEY_PEPPERS: ring(), WEBHOOK_SECRET_KEYS: ring(), CURSOR_KEYS: ring() };
}

/** The entry of a caller and its token in SERVICE_TOKENS. */
export function serviceTokenEntry({ name, grants }: Pick<Caller, 'name' | 'grants'>, token: string): string {
  const sha256 = createHash('sha256').update(token).digest('hex');
  return `${name}|${sha256}|${[...grants].join(' ')}`;
}

/** Generates a service token: `mps_` and 256 random bits. */
export const newServiceToken = (): string => `mps_${randomBytes(32).toString('base64url')}`;
