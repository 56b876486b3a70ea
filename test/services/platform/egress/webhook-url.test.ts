import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAddressPolicy } from '../../../../services/platform/egress/address-policy.ts';
import {
  checkWebhookUrl,
  MAX_WEBHOOK_URL_LENGTH,
  type WebhookUrlRules,
} from '../../../../services/platform/egress/webhook-url.ts';
import { portRanges } from '../../../../services/platform/process/setting-parsers.ts';
import { HOSTILE_FORMS, HOSTILE_HOSTS } from './hostile-urls.ts';

const allowedPorts = portRanges('443,1024-65535');
const rules: WebhookUrlRules = { addresses: createAddressPolicy(), allowedPorts };
const sandboxRules: WebhookUrlRules = {
  addresses: createAddressPolicy(['127.0.0.0/8', '::1/128']),
  allowedPorts,
};

function accepted(text: string, by = rules) {
  const check = checkWebhookUrl(text, by);
  if (!check.ok) throw new Error(`${text} was refused: ${check.reason}`);
  return check.url;
}

describe('judging a webhook URL', () => {
  it('has a table of at least 150 visually different hosts', () => {
    expect(new Set(HOSTILE_HOSTS).size).toBe(HOSTILE_HOSTS.length);
    expect(HOSTILE_HOSTS.length).toBeGreaterThanOrEqual(150);
  });

  it.each(HOSTILE_HOSTS)('rejects the host %j', (host) => {
    for (const text of [`https://${host}`, `https://${host}:8443/hooks?a=b`, `  HTTPS:\\\\${host}\\hooks `]) {
      expect(checkWebhookUrl(text, rules)).toMatchObject({ ok: false, reason: 'HOST_NOT_PUBLIC' });
    }
  });

  it.each(HOSTILE_FORMS)('rejects %j as %s', (text, reason) => {
    expect(checkWebhookUrl(text, rules)).toMatchObject({ ok: false, reason });
  });

  it.each([
    ['https://hooks.example.com', 'https://hooks.example.com/'],
    ['HTTPS://Hooks.Example.COM:443/A/../B?x=1', 'https://hooks.example.com/B?x=1'],
    [' https:hooks.example.com:8443/ ', 'https://hooks.example.com:8443/'],
    ['https://hooks.example.com:1024/', 'https://hooks.example.com:1024/'],
    ['https://hooks.example.com:65535/', 'https://hooks.example.com:65535/'],
    ['https://hooks.example.com/?', 'https://hooks.example.com/?'],
    ['https://hooks.example.com/a b', 'https://hooks.example.com/a%20b'],
    ['https://lojão.com.br/ganchos', 'https://xn--lojo-ioa.com.br/ganchos'],
    ['https://a_b.example.com/', 'https://a_b.example.com/'],
    ['https://134744072/', 'https://8.8.8.8/'],
    ['https://[2606:4700:0:0::1111]/', 'https://[2606:4700::1111]/'],
    ['https://notlocalhost.com/', 'https://notlocalhost.com/'],
    ['https://internal.example.com/', 'https://internal.example.com/'],
  ])('serializes %j as %j', (text, href) => {
    expect(accepted(text).href).toBe(href);
  });

  it('keeps a trailing dot of the host in the URL and removes it from the unique form', () => {
    const url = accepted('https://hooks.example.com.:8443/a');
    expect(url).toMatchObject({
      href: 'https://hooks.example.com.:8443/a',
      uniqueForm: 'https://hooks.example.com:8443/a',
      host: { kind: 'NAME', name: 'hooks.example.com' },
    });
    expect(accepted('https://hooks.example.com:8443/a').uniqueForm).toBe(url.uniqueForm);
  });

  it('counts characters, both of the input and of the serialized form', () => {
    const path = (length: number) => `https://hooks.example.com/${'a'.repeat(length - 26)}`;
    expect(accepted(path(MAX_WEBHOOK_URL_LENGTH)).href).toHaveLength(MAX_WEBHOOK_URL_LENGTH);
    expect(checkWebhookUrl(path(MAX_WEBHOOK_URL_LENGTH + 1), rules)).toMatchObject({ reason: 'TOO_LONG' });
    expect(checkWebhookUrl(`http://localhost/${'a'.repeat(9000)}`, rules)).toMatchObject({
      reason: 'TOO_LONG',
    });
    const grownByEncoding = `https://hooks.example.com/${'é'.repeat(1000)}`;
    expect(checkWebhookUrl(grownByEncoding, rules)).toMatchObject({ reason: 'TOO_LONG' });
  });

  it('accepts special-use names and exempt addresses with an allow-list, but no other address', () => {
    for (const host of ['localhost', 'receiver', '127.1', '[::1]']) {
      expect(accepted(`https://${host}:8443/`, sandboxRules).href).toMatch(/^https:/);
    }
    for (const host of ['10.0.0.1', '169.254.169.254', '[::ffff:127.0.0.1]', '[::2]']) {
      expect(checkWebhookUrl(`https://${host}:8443/`, sandboxRules)).toMatchObject({
        reason: 'HOST_NOT_PUBLIC',
      });
    }
  });

  it('treats every spelling of an IPv4 address as that address', () => {
    const number = fc.oneof(
      fc.nat(0xffffffff),
      fc.constantFrom(0x7f000001, 0xa9fea9fe, 0x0a000001, 0xac100001, 0xc0a80001, 0x08080808),
    );
    fc.assert(
      fc.property(
        number,
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.constantFrom(8, 10, 16), { minLength: 4, maxLength: 4 }),
        fc.boolean(),
        (address, parts, bases, dot) => {
          const text = formatIpv4(address, parts, bases) + (dot ? '.' : '');
          const dotted = [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join('.');
          const expected = rules.addresses.classify(dotted) === 'PUBLIC';
          expect(checkWebhookUrl(`https://${text}/`, rules).ok, text).toBe(expected);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('rejects every name under a special-use suffix, in any case and with a trailing dot', () => {
    const label = fc
      .stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/)
      .filter((text) => !text.includes('--'));
    fc.assert(
      fc.property(
        fc.array(label, { minLength: 0, maxLength: 3 }),
        fc.constantFrom('localhost', 'local', 'internal', 'invalid', 'test', 'onion', 'home.arpa', 'lan'),
        fc.boolean(),
        fc.boolean(),
        (labels, suffix, upper, dot) => {
          const name = [...labels, suffix].join('.') + (dot ? '.' : '');
          const text = `https://${upper ? name.toUpperCase() : name}/`;
          expect(checkWebhookUrl(text, rules), text).toMatchObject({ reason: 'HOST_NOT_PUBLIC' });
        },
      ),
    );
  });

  it('never throws, and accepts its own output unchanged, as serialized by the WHATWG parser', () => {
    const syntax = 'https:// https: // @ : # ? / \\ . .. %2e %00 [ ] \t \u3002 \u00ad é 😀 \0'.split(' ');
    const hosts = '::1 127.0.0.1 0x7f 0177 localhost example.com :443 :8443'.split(' ');
    const piece = fc.oneof(
      fc.constantFrom(...syntax),
      fc.constantFrom(...hosts),
      fc.string({ maxLength: 4, unit: 'binary' }),
    );
    const pieces = fc.array(piece, { maxLength: 8 });
    const text = fc.oneof(
      fc.webUrl(),
      pieces.map((p) => p.join('')),
      pieces.map((p) => `https://${p.join('')}`),
    );
    fc.assert(
      fc.property(text, (candidate) => {
        const check = checkWebhookUrl(candidate, rules);
        if (!check.ok) return;
        const { href, uniqueForm, host } = check.url;
        const parsed = new URL(candidate);
        expect(href).toBe(parsed.href);
        expect(parsed.protocol).toBe('https:');
        expect(parsed.username + parsed.password).toBe('');
        expect(href).not.toContain('#');
        expect(host.kind === 'ADDRESS' ? rules.addresses.classify(host.address) : host.specialUse).toBe(
          host.kind === 'ADDRESS' ? 'PUBLIC' : false,
        );
        expect(accepted(href)).toEqual(check.url);
        expect(accepted(uniqueForm).uniqueForm).toBe(uniqueForm);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('parsing the allowed ports', () => {
  it('accepts ports and ranges', () => {
    expect(portRanges('443, 1024-65535')).toEqual([
      { from: 443, to: 443 },
      { from: 1024, to: 65535 },
    ]);
  });

  it.each(['', '443,', 'https', '0', '65536', '2-1', '-1', '1-2-3'])('rejects %j', (text) => {
    expect(() => portRanges(text)).toThrow('must list ports or ranges');
  });
});

/** Writes an IPv4 address in this many parts, the last holding the rest, each part in its base. */
function formatIpv4(address: number, parts: number, bases: readonly number[]): string {
  const restBits = 32 - 8 * (parts - 1);
  const numbers = Array.from({ length: parts - 1 }, (_, index) => (address >>> (24 - 8 * index)) & 0xff);
  numbers.push(address % 2 ** restBits);
  const prefixes: Record<number, string> = { 8: '0', 10: '', 16: '0x' };
  return numbers.map((n, index) => prefixes[bases[index]!] + n.toString(bases[index]!)).join('.');
}
