import { createHash, randomBytes } from 'node:crypto';
import { ALL_GRANTS } from '../../services/platform/rpc/grants.ts';

/** A setting for keys, with one new key. */
export const newKeyRing = () => `v1:${randomBytes(32).toString('base64')}`;

/** The settings for keys of a process of all services, with new keys. */
export const newKeyRings = () => ({
  API_KEY_PEPPERS: newKeyRing(),
  WEBHOOK_SECRET_KEYS: newKeyRing(),
  CURSOR_KEYS: newKeyRing(),
});

/** A new service token, with its hash and its entry in SERVICE_TOKENS. */
export function newServiceToken(name: string, grants: readonly string[] | ReadonlySet<string> = ALL_GRANTS) {
  const token = `mps_${randomBytes(24).toString('base64url')}`;
  const sha256 = createHash('sha256').update(token).digest('hex');
  return { token, sha256, entry: `${name}|${sha256}|${[...grants].join(' ')}` };
}
