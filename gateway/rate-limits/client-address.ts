import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

const IPV6_NETWORK_BYTES = 8;

const UNKNOWN = 'unknown';

/**
 * The rate-limit key of a client without an API key: its IPv4 address, or the /64 network of its IPv6 address, since
 * one customer can use any address in it. Clients whose address is unknown (not sent by a trusted proxy, or already
 * disconnected) share one key.
 */
export function rateLimitAddress(address: string | undefined): string {
  const version = isIP(address ?? '');
  if (address === undefined || version === 0) return UNKNOWN;
  if (version === 4) return address;
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  return Buffer.from(parsed.toByteArray().slice(0, IPV6_NETWORK_BYTES)).toString('hex');
}
