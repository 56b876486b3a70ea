import { randomBytes } from 'node:crypto';
import type { KEY_RINGS } from '../services/platform/process/config.ts';
import type { DataFolder } from './data-folder.ts';
import { StartError } from './start-error.ts';

const FILE = 'secrets.json';

/** Secrets made once for a data folder. */
export interface GeneratedSecrets {
  /** Settings of that name: `v1:<base64 of 32 bytes>`. */
  readonly keyRings: Readonly<Record<(typeof KEY_RINGS)[number], string>>;
  /** By caller's name, in clear: `mps_` and 256 random bits. */
  readonly serviceTokens: Readonly<Record<string, string>>;
}

/**
 * The secrets of a data folder, from secrets.json (0600); what is missing there is made and kept. A file that cannot
 * be read is never written over, since data is encrypted under its keys: StartError DATA_FOLDER_UNREADABLE.
 */
export function loadGeneratedSecrets(folder: DataFolder, callers: readonly string[]): GeneratedSecrets {
  const kept = parse(folder);
  const secrets: GeneratedSecrets = {
    keyRings: { ...newKeyRings(), ...kept.keyRings },
    serviceTokens: { ...Object.fromEntries(callers.map(newServiceToken)), ...kept.serviceTokens },
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
      `${folder.file(FILE)} is not valid JSON: restore it, or delete DATA_DIR to start anew`,
      { cause: error },
    );
  }
}

/** New key rings, by the name of their setting. */
export function newKeyRings(): GeneratedSecrets['keyRings'] {
  const ring = () => `v1:${randomBytes(32).toString('base64')}`;
  return { API_KEY_PEPPERS: ring(), WEBHOOK_SECRET_KEYS: ring(), CURSOR_KEYS: ring() };
}

/** A caller's name with a new token. */
export function newServiceToken(caller: string): [string, string] {
  return [caller, `mps_${randomBytes(32).toString('base64url')}`];
}
