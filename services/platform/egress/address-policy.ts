import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** PUBLIC: allowed for all. EXEMPT: allowed by the allow-list. FORBIDDEN: never dialed. */
export type AddressClass = 'PUBLIC' | 'EXEMPT' | 'FORBIDDEN';

export interface AddressPolicy {
  /** Classifies an address as written by the WHATWG URL parser or a resolver; anything else is FORBIDDEN. */
  classify(address: string): AddressClass;
  /** True when an allow-list is set, so that special-use names may be resolved. */
  readonly hasExemptions: boolean;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Cidr = [Address, number];

/** Every block of the IANA IPv4 special-purpose registry, multicast, and the cloud host addresses outside them. */
const FORBIDDEN_IPV4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT; a cloud's metadata at 100.100.100.200
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // a cloud's host services, though publicly routed
  '169.254.0.0/16', // link-local; cloud metadata at 169.254.169.254
  '172.16.0.0/12', // private
  '192.0.0.0/24', // IETF protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, with the limited broadcast
].map(parseCidr);

/**
 * Global unicast. Outside it lie loopback, mapped and compatible IPv4, NAT64 (64:ff9b::/96 and 64:ff9b:1::/48),
 * discard, segment routing (5f00::/16), unique local, link-local, site-local and multicast: all forbidden.
 */
const GLOBAL_IPV6 = parseCidr('2000::/3');

const FORBIDDEN_IPV6 = [
  '2001::/23', // IETF assignments: Teredo, benchmarking, AMT, AS112, both ORCHIDs, DRIP
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which carries an IPv4 address
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
].map(parseCidr);

/**
 * Creates the policy that decides which addresses may be dialed.
 * @param allowCidrs development and tests only: addresses in these blocks are EXEMPT.
 * @throws RangeError naming the invalid CIDR.
 */
export function createAddressPolicy(allowCidrs: readonly string[] = []): AddressPolicy {
  const exempt = allowCidrs.map(parseCidr);
  return {
    hasExemptions: exempt.length > 0,
    classify(text) {
      const address = parseAddress(text);
      if (address === undefined) return 'FORBIDDEN';
      if (exempt.some((cidr) => contains(cidr, address))) return 'EXEMPT';
      return isPublic(address) ? 'PUBLIC' : 'FORBIDDEN';
    },
  };
}

/** The canonical form of an address, for comparison; undefined for anything else. */
export function canonicalAddress(text: string): string | undefined {
  return parseAddress(text)?.toNormalizedString();
}

/**
 * Reads `address/bits`.
 * @throws RangeError when it is not one.
 */
export function parseCidr(text: string): Cidr {
  const [base = '', bits = '', ...rest] = text.trim().split('/');
  const address = parseAddress(base);
  const width = address?.kind() === 'ipv4' ? 32 : 128;
  if (address === undefined || rest.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > width) {
    throw new RangeError(`${JSON.stringify(text)} is not a CIDR such as 127.0.0.0/8`);
  }
  return [address, Number(bits)];
}

function isPublic(address: Address): boolean {
  if (address instanceof ipaddr.IPv4) return !FORBIDDEN_IPV4.some((cidr) => contains(cidr, address));
  return (
    contains(GLOBAL_IPV6, address) &&
    !FORBIDDEN_IPV6.some((cidr) => contains(cidr, address)) &&
    !isIsatap(address)
  );
}

/** ISATAP hides an IPv4 address behind the interface identifier 0000:5efe or 0200:5efe, under any prefix. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return (parts[4]! & 0xfcff) === 0 && parts[5] === 0x5efe;
}

/** Parses strictly: Node.js decides first, because ipaddr.js also accepts octal and shortened forms. Rejects zones. */
function parseAddress(text: string): Address | undefined {
  return isIP(text) === 0 || text.includes('%') ? undefined : ipaddr.parse(text);
}

function contains([base, bits]: Cidr, address: Address): boolean {
  return base.kind() === address.kind() && address.match(base, bits);
}
