import { createHash } from 'node:crypto';
import { newServiceToken as newToken, serviceTokenEntry } from '../../local/generated-secrets.ts';
import { ALL_GRANTS } from '../../services/platform/rpc/grants.ts';

/** A new service token, with its hash and its entry in SERVICE_TOKENS. */
export function newServiceToken(name: string, grants: Iterable<string> = ALL_GRANTS) {
  const token = newToken();
  const sha256 = createHash('sha256').update(token).digest('hex');
  return { token, sha256, entry: serviceTokenEntry({ name, grants: new Set(grants) }, token) };
}
