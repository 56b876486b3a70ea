import { BlockList, isIP } from 'node:net';

/**
 * The addresses that no delivery may reach: IANA's special-purpose addresses of both families that are not globally
 * reachable, blocks in which others can hide, multicast, and all of IPv6 that is not global unicast. Kept separate
 * from the tested code.
 */
const BLOCKS: readonly (readonly [string, number])[] = [
  ...([
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['168.63.129.16', 32],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['192.31.196.0', 24],
    ['192.52.193.0', 24],
    ['192.88.99.0', 24],
    ['192.168.0.0', 16],
    ['192.175.48.0', 24],
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    ['224.0.0.0', 4],
    ['240.0.0.0', 4],
  ] as const),
  ...([
    ['::', 96],
    ['::ffff:0:0', 96],
    ['::ffff:0:0:0', 96],
    ['64:ff9b::', 96],
    ['64:ff9b:1::', 48],
    ['100::', 64],
    ['100:0:0:1::', 64],
    ['2001::', 23],
    ['2001:db8::', 32],
    ['2002::', 16],
    ['2620:4f:8000::', 48],
    ['3fff::', 20],
    ['5f00::', 16],
    ['fc00::', 7],
    ['fe80::', 10],
    ['fec0::', 10],
    ['ff00::', 8],
    // not assigned to anybody
    ['::', 3],
    ['4000::', 2],
    ['8000::', 1],
  ] as const),
];

// A list for each: one for both takes IPv4 for the IPv6 that it can be mapped to.
const [ipv4, ipv6] = [new BlockList(), new BlockList()];
for (const [base, bits] of BLOCKS) {
  if (isIP(base) === 4) ipv4.addSubnet(base, bits, 'ipv4');
  else ipv6.addSubnet(base, bits, 'ipv6');
}

/** Each block as `address/bits`. */
export const IANA_BLOCKS = BLOCKS.map(([base, bits]) => ({ base, bits, family: isIP(base) }));

/** Whether an address, in any notation of RFC 4291 or dotted, is on the public internet. */
export function isGloballyReachable(address: string): boolean {
  const family = isIP(address);
  if (family === 0) throw new TypeError(`${address} is not an address`);
  if (family === 4) return !ipv4.check(address, 'ipv4');
  return !ipv6.check(address, 'ipv6') && !/^(?:[0-9a-f]+:){4}(?:0|[123]00):5efe:/.test(groupsOf(address));
}

/** All eight groups, without zeros in front. */
function groupsOf(address: string): string {
  const [head = [], tail] = address
    .toLowerCase()
    .split('::')
    .map((part) => part.split(':').filter(Boolean));
  const middle = tail ? Array<string>(8 - head.length - tail.length).fill('0') : [];
  return [...head, ...middle, ...(tail ?? [])].map((group) => group.replace(/^0+(?=.)/, '')).join(':');
}
