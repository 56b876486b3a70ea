import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAddressPolicy } from '../../../../services/platform/egress/address-policy.ts';
import { checkWebhookUrl, type WebhookUrlRules } from '../../../../services/platform/egress/webhook-url.ts';
import { portRanges } from '../../../../services/platform/process/setting-parsers.ts';
import { HOSTILE_FORMS, HOSTILE_HOSTS } from './hostile-urls.ts';
import { IANA_BLOCKS, isGloballyReachable } from './iana-special-purpose.ts';

const rules: WebhookUrlRules = {
  addresses: createAddressPolicy(),
  allowedPorts: portRanges('443,1024-65535'),
};

const nat = (max: number) => fc.nat({ max });
const group = nat(0xffff);

/** Any IPv4 address, those in and around the blocks of the registry as often as all others. */
const ipv4 = fc.oneof(
  fc.tuple(nat(255), nat(255), nat(255), nat(255)).map((bytes) => bytes.join('.')),
  fc
    .tuple(
      fc.constantFrom(...IANA_BLOCKS.filter(({ family }) => family === 4)),
      fc.integer({ min: -2, max: 2 }),
    )
    .chain(([{ base, bits }, around]) => {
      const first = base.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
      const last = first + 2 ** (32 - bits) - 1;
      return fc.constantFrom(first + around, last + around);
    })
    .map((value) => dotted(value >>> 0)),
);

/** Any IPv6 address in any notation, many with the prefix of a block, or with an IPv4 address inside. */
const ipv6 = fc
  .tuple(
    fc.oneof(
      fc.constant([]),
      fc.constantFrom(...IANA_BLOCKS.filter(({ family }) => family === 6)).map(({ base }) => headOf(base)),
      fc.constantFrom(
        [0x2606, 0x4700],
        [0x2a00, 0x1450, 0x4001],
        [0x2001, 0x200],
        [0x2001, 0x1ff],
        [0x3fff, 0x1000],
      ),
    ),
    fc.array(fc.oneof(group, fc.constantFrom(0, 0, 0, 1, 0x5efe, 0x200, 0x7f00, 0xffff)), {
      minLength: 8,
      maxLength: 8,
    }),
    fc.option(ipv4),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([head, rest, inside, upper, padded]) => {
    const groups = [...head, ...rest].slice(0, 8).map((n) => n.toString(16).padStart(padded ? 4 : 1, '0'));
    const text = inside === null ? groups.join(':') : `${groups.slice(0, 6).join(':')}:${inside}`;
    const shortened = padded ? text : text.replace(/(^|:)0(:0)+(:|$)/, '::');
    return upper ? shortened.toUpperCase() : shortened;
  });

const name = fc.oneof(
  fc.domain(),
  fc.constantFrom('hooks.example.com', 'localhost', 'db.internal', 'a.local', 'lojão.com.br'),
  fc.constantFrom(...HOSTILE_HOSTS),
);

const FULL_WIDTH_OFFSET = 0xfee0;
/** The spellings of one character that the parser reads alike. */
const alternateSpelling = fc.constantFrom<(char: string) => string>(
  (char) => char,
  (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  (char) => (/[0-9a-z]/i.test(char) ? String.fromCharCode(char.charCodeAt(0) + FULL_WIDTH_OFFSET) : char),
  (char) => (char === '.' ? '\u3002' : char),
  (char) => `${char}\t`,
  (char) => `\n${char}`,
  (char) => `${char}\u00ad`,
);
const withAlternateSpellings = (host: fc.Arbitrary<string>) =>
  fc.tuple(host, fc.array(fc.tuple(nat(40), alternateSpelling), { maxLength: 4 })).map(([text, changes]) => {
    const chars = [...text];
    for (const [at, change] of changes) if (chars[at]?.length === 1) chars[at] = change(chars[at]);
    return chars.join('');
  });

const address = fc.oneof(
  ipv4,
  ipv6.map((text) => `[${text}]`),
);
const webhookUrl = fc
  .record({
    scheme: fc.constantFrom(
      'https://',
      'https://',
      'https://',
      'https:\\\\',
      'HTTPS:',
      'http://',
      ' https:///',
    ),
    userinfo: fc.constantFrom('', '', '', '', 'user@', ':@', 'hooks.example.com:8443@', '%40@'),
    host: fc.oneof(address, withAlternateSpellings(address), name, withAlternateSpellings(name)),
    dot: fc.constantFrom('', '', '.', '..', '\u3002'),
    port: fc.constantFrom('', '', ':443', ':8443', ':22', ':', ':00443', ':65536', ':0'),
    path: fc.constantFrom('/', '', '/hook?a=b', '\\@127.0.0.1/', '#', '/#x', '?@127.0.0.1'),
  })
  .map(({ scheme, userinfo, host, dot, port, path }) => `${scheme}${userinfo}${host}${dot}${port}${path}`);

/** Whether the guard may accept it, by the parser and the registries alone; undefined if the host is a name. */
function isAcceptable(text: string): boolean | undefined {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'https:' || url.username || url.password || url.href.includes('#')) {
    return false;
  }
  const port = Number(url.port || 443);
  if (port !== 443 && port < 1024) return false;
  const bare = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) === 0 ? undefined : isGloballyReachable(bare);
}

describe('the URLs that the guard accepts', () => {
  it('are exactly those that are public by the WHATWG parser and the IANA registries', () => {
    const seen = { accepted: 0, refused: 0, names: 0 };
    fc.assert(
      fc.property(webhookUrl, (text) => {
        const expected = isAcceptable(text);
        const check = checkWebhookUrl(text, rules);
        if (expected === undefined) {
          seen.names += 1;
          // A name must have been read as the parser reads it.
          if (check.ok) {
            expect(check.url).toMatchObject({
              href: new URL(text).href,
              host: { kind: 'NAME', name: new URL(text).hostname.replace(/\.$/, ''), specialUse: false },
            });
          }
          return;
        }
        seen[expected ? 'accepted' : 'refused'] += 1;
        expect({ text, ok: check.ok }).toEqual({ text, ok: expected });
        if (check.ok) expect(check.url.href).toBe(new URL(text).href);
      }),
      { numRuns: 5_000 },
    );
    // The property would prove nothing about a kind that never occurs.
    expect(Math.min(seen.accepted, seen.refused, seen.names)).toBeGreaterThan(125);
  });

  it('agree with the registries about every address', () => {
    fc.assert(
      fc.property(fc.oneof(ipv4, ipv6, fc.ipV6()), (text) => {
        fc.pre(isIP(text) !== 0);
        expect([text, rules.addresses.classify(text)]).toEqual([
          text,
          isGloballyReachable(canonical(text)) ? 'PUBLIC' : 'FORBIDDEN',
        ]);
      }),
      { numRuns: 5_000 },
    );
  });

  it('contain none of the hostile spellings, according to the registries', () => {
    const urls = [...HOSTILE_HOSTS.map((host) => `https://${host}/`), ...HOSTILE_FORMS.map(([text]) => text)];
    expect(urls.filter((text) => isAcceptable(text) === true)).toEqual([]);
    expect(urls.filter((text) => isAcceptable(text) === false).length).toBeGreaterThanOrEqual(150);
  });
});

/** As the WHATWG parser writes it. */
const canonical = (text: string) =>
  isIP(text) === 4 ? text : new URL(`https://[${text}]`).hostname.slice(1, -1);

const dotted = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff).join('.');

/** The groups that a block begins with. */
const headOf = (base: string) =>
  base
    .split('::')[0]!
    .split(':')
    .filter(Boolean)
    .map((text) => Number.parseInt(text, 16));
