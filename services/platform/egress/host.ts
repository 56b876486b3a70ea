import { isIP } from 'node:net';

/** The host of a URL: an address, or a name without its trailing dot. */
export type Host =
  | { readonly kind: 'ADDRESS'; readonly address: string }
  | { readonly kind: 'NAME'; readonly name: string; readonly specialUse: boolean };

/**
 * Suffixes that public DNS does not serve: the special-use registry (RFC 6761 and later) without `example`, which is
 * reserved for documentation, and names used by private networks, containers and clouds.
 */
const SPECIAL_USE_SUFFIXES = [
  'alt',
  'arpa',
  'internal',
  'invalid',
  'local',
  'localhost',
  'onion',
  'test',
  'corp',
  'home',
  'intranet',
  'lan',
  'localdomain',
  'mail',
  'private',
  'svc',
  'metadata.goog',
  'metadata.tencentyun.com',
];

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
const NUMBER_LIKE = /^(\d+|0x[0-9a-f]*)$/;

/**
 * Parses a host as serialized by the WHATWG URL parser (IPv6 with or without brackets).
 * @returns undefined for anything that is neither an address nor a DNS name, such as one with an empty label.
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
