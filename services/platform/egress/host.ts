import { isIP } from 'node:net';

/** A host of a URL: an address, or a name without its final dot. */
export type Host =
  | { readonly kind: 'ADDRESS'; readonly address: string }
  | { readonly kind: 'NAME'; readonly name: string; readonly specialUse: boolean };

/**
 * Suffixes that no public DNS serves: the special-use registry (RFC 6761 and after) without `example`, which
 * is for documentation and names nothing, and the names that private networks, containers and clouds use.
 */
const SPECIAL_USE_SUFFIXES = [
  ...['alt', 'arpa', 'internal', 'invalid', 'local', 'localhost', 'onion', 'test'],
  ...['corp', 'home', 'intranet', 'lan', 'localdomain', 'mail', 'private', 'svc'],
  ...['metadata.goog', 'metadata.tencentyun.com'],
];

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
const NUMBER_LIKE = /^(\d+|0x[0-9a-f]*)$/;

/**
 * Reads a host as the WHATWG parser writes it (IPv6 with or without brackets).
 * @returns undefined for what is neither an address nor a DNS name, such as an empty label.
 */
export function readHost(hostname: string): Host | undefined {
  const bare = hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname;
  if (isIP(bare) !== 0) return { kind: 'ADDRESS', address: bare };
  const name = bare.toLowerCase().replace(/\.$/, '');
  const labels = name.split('.');
  if (name.length > 253 || !labels.every((label) => LABEL.test(label))) return undefined;
  if (NUMBER_LIKE.test(labels.at(-1)!)) return undefined;
  return { kind: 'NAME', name, specialUse: labels.length === 1 || hasSpecialUseSuffix(name) };
}

function hasSpecialUseSuffix(name: string): boolean {
  return SPECIAL_USE_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`));
}
