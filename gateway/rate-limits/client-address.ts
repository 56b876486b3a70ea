import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

const IPV6_NETWORK_BYTES = 8;

const UNKNOWN = 'unknown';

/**
 * What stands for a client without a key when it is counted: its IPv4 address, or the /64 of its IPv6 address, of
 * which one customer has as many addresses as it likes. Clients of which a trusted proxy tells no address, or whose
 * connection is gone, are counted together.
 */
export function countedAddress(address: string | undefined): string {
  const version = isIP(address ?? '');
  if (address === undefined || version === 0) return UNKNOWN;
  if (version === 4) return address;
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  return Buffer.from(parsed.toByteArray().slice(0, IPV6_NETWORK_BYTES)).toString('hex');
}
