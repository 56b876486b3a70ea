import { fromByteArray, parse } from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import {
  canonicalAddress,
  createAddressPolicy,
  parseCidr,
} from '../../../../services/platform/egress/address-policy.ts';
import { IANA_BLOCKS, isGloballyReachable } from './iana-special-purpose.ts';

const policy = createAddressPolicy();

/** The last address before a block, its first and last, and the first after it, where there are such. */
function edgesOf({ base, bits, family }: (typeof IANA_BLOCKS)[number]): string[] {
  const length = family === 4 ? 4 : 16;
  const first = BigInt(`0x${Buffer.from(parse(base).toByteArray()).toString('hex')}`);
  const after = first + (1n << BigInt(8 * length - bits));
  return [first - 1n, first, after - 1n, after]
    .filter((value) => value >= 0n && value < 1n << BigInt(8 * length))
    .map((value) => {
      const bytes = Buffer.from(value.toString(16).padStart(2 * length, '0'), 'hex');
      return fromByteArray([...bytes]).toString();
    });
}

describe('the address policy', () => {
  it.each(IANA_BLOCKS)('has the exact bounds of $base/$bits', (block) => {
    const edges = edgesOf(block);
    const wanted = edges.map((address) => (isGloballyReachable(address) ? 'PUBLIC' : 'FORBIDDEN'));
    expect([edges, edges.map((address) => policy.classify(address))]).toEqual([edges, wanted]);
  });

  it.each([
    '',
    'localhost',
    '127.1',
    '0177.0.0.1',
    '0x7f000001',
    '2130706433',
    '8.8.8.8/32',
    ' 8.8.8.8',
    '8.8.8.8.',
    '[2606:4700::1]',
    '2606:4700::1%eth0',
    'fe80::1%1',
  ])('forbids %j, which is not an address in canonical form', (text) => {
    expect(policy.classify(text)).toBe('FORBIDDEN');
  });

  it('exempts exactly the entries of the allow-list', () => {
    const sandbox = createAddressPolicy(['127.0.0.0/8', '::1/128', ' 10.1.0.0/16 ']);
    expect(sandbox.hasExemptions).toBe(true);
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '10.1.2.3'])
      expect(sandbox.classify(address)).toBe('EXEMPT');
    for (const address of ['10.2.0.1', '::2', '169.254.169.254', '::ffff:127.0.0.1', '::7f00:1']) {
      expect(sandbox.classify(address)).toBe('FORBIDDEN');
    }
    expect(sandbox.classify('8.8.8.8')).toBe('PUBLIC');
    expect(policy.hasExemptions).toBe(false);
  });

  it.each([
    '',
    '127.0.0.1',
    '127.0.0.0/',
    '127.0.0.0/33',
    '::1/129',
    '127.0.0.0/-1',
    '127.0.0.0/8/8',
    '0177.0.0.0/8',
    'localhost/8',
    '127.0.0.0/8 ,::1/128',
  ])('rejects %j as a CIDR', (text) => {
    expect(() => parseCidr(text)).toThrow(RangeError);
  });

  it('compares addresses in any spelling', () => {
    expect(canonicalAddress('2606:4700:0:0::1')).toBe(canonicalAddress('2606:4700::1'));
    expect(canonicalAddress('2606:4700::1')).not.toBe(canonicalAddress('2606:4700::2'));
    expect(canonicalAddress('nothing')).toBeUndefined();
  });
});
