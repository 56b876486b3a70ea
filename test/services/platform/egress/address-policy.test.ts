import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalAddress,
  createAddressPolicy,
  parseCidr,
} from '../../../../services/platform/egress/address-policy.ts';

const policy = createAddressPolicy();

/** Each block of the IANA registry and the others: last address before, first, last, first after. */
const IPV4_EDGES = [
  [null, '0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
  ['100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
  ['126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
  ['168.63.129.15', '168.63.129.16', '168.63.129.16', '168.63.129.17'],
  ['169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
  ['172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
  ['191.255.255.255', '192.0.0.0', '192.0.0.255', '192.0.1.0'],
  ['192.0.1.255', '192.0.2.0', '192.0.2.255', '192.0.3.0'],
  ['192.31.195.255', '192.31.196.0', '192.31.196.255', '192.31.197.0'],
  ['192.52.192.255', '192.52.193.0', '192.52.193.255', '192.52.194.0'],
  ['192.88.98.255', '192.88.99.0', '192.88.99.255', '192.88.100.0'],
  ['192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
  ['192.175.47.255', '192.175.48.0', '192.175.48.255', '192.175.49.0'],
  ['198.17.255.255', '198.18.0.0', '198.19.255.255', '198.20.0.0'],
  ['198.51.99.255', '198.51.100.0', '198.51.100.255', '198.51.101.0'],
  ['203.0.112.255', '203.0.113.0', '203.0.113.255', '203.0.114.0'],
  ['223.255.255.255', '224.0.0.0', '255.255.255.255', null],
] as const;

const IPV6_EDGES = [
  ['2001:200::', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::1'],
  ['2001:db7:ffff::', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  ['2001:ffff::', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
  ['2620:4f:7fff::', '2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff', '2620:4f:8001::'],
  ['3ffe:ffff::', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:1000::'],
  ['2000::1', '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2000::'],
  ['3fff:ffff::', '4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:1000::1'],
] as const;

describe('the address policy', () => {
  it.each([...IPV4_EDGES, ...IPV6_EDGES])(
    'has exact bounds of each block: %s | %s to %s | %s',
    (before, first, last, after) => {
      expect(policy.classify(first)).toBe('FORBIDDEN');
      expect(policy.classify(last)).toBe('FORBIDDEN');
      if (before !== null) expect(policy.classify(before)).toBe('PUBLIC');
      if (after !== null) expect(policy.classify(after)).toBe('PUBLIC');
    },
  );

  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '93.184.215.14',
    '2606:4700:4700::1111',
    '2a00:1450:4001:800::200e',
    '2800:3f0::1',
  ])('classifies %s as public', (address) => {
    expect(policy.classify(address)).toBe('PUBLIC');
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

  it('agrees with the block list of Node.js on every IPv4 address', () => {
    const blocks = new BlockList();
    for (const [, first, last] of IPV4_EDGES) blocks.addRange(first, last, 'ipv4');
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(policy.classify(address) === 'FORBIDDEN').toBe(blocks.check(address));
      }),
      { numRuns: 2000 },
    );
  });

  it('forbids every IPv6 form that embeds an IPv4 address', () => {
    const hex = (n: number) => n.toString(16);
    fc.assert(
      fc.property(
        fc.tuple(group(), group()),
        fc.tuple(group(), group(), group()),
        ([high, low], [a, b, c]) => {
          const v4 = `${hex(high)}:${hex(low)}`;
          const inverted = `${hex(high ^ 0xffff)}:${hex(low ^ 0xffff)}`;
          const carriers = [
            `::ffff:${v4}`,
            `::ffff:0:${v4}`,
            `::${v4}`,
            `64:ff9b::${v4}`,
            `64:ff9b:1:${hex(a)}:${hex(b)}:${hex(c)}:${v4}`,
            `2002:${v4}:${hex(a)}::${hex(b)}`,
            `2001:0:${hex(a)}:${hex(b)}:${hex(c)}:0:${inverted}`,
            `2606:4700:${hex(a)}:${hex(b)}:0:5efe:${v4}`,
            `2606:4700:${hex(a)}:${hex(b)}:200:5efe:${v4}`,
          ];
          for (const carrier of carriers) expect(policy.classify(carrier), carrier).toBe('FORBIDDEN');
        },
      ),
    );
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

function group() {
  return fc.integer({ min: 0, max: 0xffff });
}
