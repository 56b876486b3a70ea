import { randomBytes } from 'node:crypto';
import type { KEY_RINGS } from '../services/platform/process/config.ts';
import type { DataFolder } from './data-folder.ts';
import { StartError } from './start-error.ts';

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
  const saved = parse(folder);
  const secrets: GeneratedSecrets = {
    keyRings: { ...newKeyRings(), ...saved.keyRings },
    serviceTokens: {
      ...Object.fromEntries(callers.map((caller) => [caller, newServiceToken()])),
      ...saved.serviceTokens,
    },
  };
  const text = `${JSON.stringify(secrets, null, 2)}\n`;
  if (folder.read(FILE) !== text) folder.write(FILE, text);
  return secrets;
}

function parse(folder: DataFolder): Partial<GeneratedSecrets> {
  const text = folder.read(FILE);
  if (text === undefined) return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new StartError(
      'DATA_FOLDER_UNREADABLE',
      `${folder.file(FILE)} is not valid JSON: restore it, or delete DATA_DIR to start over`,
      { cause: error },
    );
  }
}

/** Generates key rings, by setting. */
export function newKeyRings(): GeneratedSecrets['keyRings'] {
  const ring = () => `v1:${randomBytes(32).toString('base64')}`;
  return { API_KEY_PEPPERS: ring(), WEBHOOK_SECRET_KEYS: ring(), CURSOR_KEYS: ring() };
}

/** Generates a service token: `mps_` and 256 random bits. */
export const newServiceToken = (): string => `mps_${randomBytes(32).toString('base64url')}`;
