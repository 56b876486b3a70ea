import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseCidr } from '../egress/address-policy.ts';
import type { PortRange } from '../egress/webhook-url.ts';
import { KeyRing } from '../key-ring.ts';
import { isGrant } from '../rpc/grants.ts';

/** Parses a setting; throws an Error whose message continues the sentence "NAME …". */
export type Parser<T> = (value: string) => T;

export const text: Parser<string> = (value) => value;

/** An address to listen on. For `localhost`, Fastify would open a second server without the hooks that we add to the first. */
export const listeningAddress: Parser<string> = (value) => (value === 'localhost' ? '127.0.0.1' : value);

/** A token or key for the header `Authorization`, without white space around it. Errors do not repeat it. */
export const token: Parser<string> = (value) => {
  const trimmed = value.trim();
  if (!/^[\x21-\x7e]+$/.test(trimmed)) throw new Error('must be printable ASCII without spaces');
  return trimmed;
};

/** Undefined for the empty text. */
export const optional =
  <T>(parse: Parser<T>): Parser<T | undefined> =>
  (value) =>
    value === '' ? undefined : parse(value);

export const integer =
  (min: number, max: number): Parser<number> =>
  (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < min || number > max) {
      throw new Error(`must be an integer from ${min} to ${max}`);
    }
    return number;
  };

/** A number from 0 to 1. */
export const share: Parser<number> = (value) => {
  const number = Number(value);
  if (!/^[\d.]+$/.test(value) || !(number >= 0 && number <= 1))
    throw new Error('must be a number from 0 to 1');
  return number;
};

/** `name=value,name=value` with percent-encoded values, as OpenTelemetry writes headers. */
export const headers: Parser<Readonly<Record<string, string>>> = (value) => {
  const pairs = value.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, encoded] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
      if (name === undefined || encoded === undefined) throw new Error('must be name=value,name=value');
      return [name, decodeURIComponent(encoded)];
    }),
  );
};

export const boolean: Parser<boolean> = (value) => oneOf('true', 'false')(value) === 'true';

export const oneOf =
  <const T extends string>(...values: T[]): Parser<T> =>
  (value) => {
    if (!values.includes(value as T)) throw new Error(`must be one of ${values.join(', ')}`);
    return value as T;
  };

/** One or more of the given names, separated by commas. */
export const listOf =
  (...names: string[]): Parser<readonly string[]> =>
  (value) => {
    const listed = value.split(',').map((name) => name.trim());
    if (!listed.every((name) => names.includes(name))) {
      throw new Error(`must list names among ${names.join(', ')}`);
    }
    return listed;
  };

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Far enough for every purpose, and near enough that dates this far from now can be stored. */
const LONGEST = '36500d';

/** `20ms`, `5s`, `30m`, `2h`, `7d` as milliseconds, within these limits. */
export const durationFrom =
  (min: string, max = LONGEST): Parser<number> =>
  (value) => {
    const ms = millisecondsOf(value);
    if (ms < millisecondsOf(min)) throw new Error(`must be at least ${min}`);
    if (ms > millisecondsOf(max)) throw new Error(`must be at most ${max}`);
    return ms;
  };

/** A duration of any length, as milliseconds. */
export const duration = durationFrom('0s');

function millisecondsOf(text: string): number {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text.trim());
  if (!match) throw new Error('must be a duration such as 20ms, 5s, 30m, 2h or 7d');
  return Number(match[1]) * UNIT_MS[match[2]!]!;
}

/** The waits before attempts, separated by commas, as milliseconds. Timers wait 24 days at most: a longer one would end at once. */
export const schedule: Parser<readonly number[]> = (value) => value.split(',').map(durationFrom('0s', '24d'));

export const url: Parser<string> = (value) => {
  const parsed = parseHttpUrl(value);
  if (!parsed) throw new Error('must be an http or https URL');
  return parsed.href.replace(/\/$/, '');
};

function parseHttpUrl(value: string): URL | undefined {
  const parsed = URL.parse(value);
  return parsed && ['http:', 'https:'].includes(parsed.protocol) ? parsed : undefined;
}

/** The URL of a server that paths are appended to. It may contain a password, so errors do not repeat it. */
export const baseUrl: Parser<string> = (value) => {
  const parsed = url(value);
  if (/[?#]/.test(parsed)) throw new Error('must not have a query or fragment');
  return parsed;
};

/** The URL of a server that is called with a token or certificate: a user and password would not be sent. */
export const serviceUrl: Parser<string> = (value) => {
  const parsed = baseUrl(value);
  requireNoUser(parsed);
  return parsed;
};

function requireNoUser(href: string): void {
  const { username, password } = new URL(href);
  if (username || password) throw new Error('must not have a user or password');
}

/** The URL of a proxy. It may contain a password, so errors do not repeat it. */
export const proxyUrl: Parser<string> = (value) => {
  const parsed = url(value);
  requirePercentEncoding(new URL(parsed));
  return parsed;
};

function requirePercentEncoding({ username, password }: URL): void {
  try {
    for (const text of [username, password]) decodeURIComponent(text);
  } catch (error) {
    throw new Error('must have a percent-encoded user and password', { cause: error });
  }
}

/** The URL of a payment provider; undefined for `none`. */
export const providerUrl: Parser<string | undefined> = (value) => {
  if (value === 'none') return undefined;
  if (!parseHttpUrl(value)) throw new Error('must be none or an http or https URL');
  return serviceUrl(value);
};

/** An issuer identifier, unchanged: a trailing slash makes it a different issuer. */
export const issuerUrl: Parser<string> = (value) => {
  requireNoUser(url(value));
  return value;
};

/** An email address or an https URL, unchanged. */
export const contact: Parser<string> = (value) => {
  if (!/^[^\s@?&]+@[^\s@?&]+$/.test(value) && URL.parse(value)?.protocol !== 'https:')
    throw new Error('must be an email address or an https URL');
  return value;
};

/** Those of nodemailer, with `tls.*`. It ignores others, such as a misspelled requireTLS. */
const SMTP_TLS_PARAMETERS: readonly string[] = ['requireTLS', 'ignoreTLS', 'opportunisticTLS'];
/** The scheme of the URL decides about `secure`, and each mail has a connection of its own. */
const SMTP_UNUSED: readonly string[] = ['secure', 'pool'];

/** The URL of a mail server. It may contain a password, so errors do not repeat it. */
export const smtpUrl: Parser<string> = (value) => {
  const parsed = URL.parse(value);
  if (!parsed?.hostname || !['smtp:', 'smtps:'].includes(parsed.protocol))
    throw new Error('must be an SMTP URL such as smtp://user:password@host:587');
  for (const [name, given] of parsed.searchParams) {
    if (SMTP_UNUSED.includes(name)) throw new Error(`must not have the parameter ${name}`);
    if (!/tls/i.test(name)) continue;
    if ((!SMTP_TLS_PARAMETERS.includes(name) && !name.startsWith('tls.')) || given.trim() === '')
      throw new Error(
        `has a parameter for TLS other than ${SMTP_TLS_PARAMETERS.join(', ')}, tls.*, or an empty one`,
      );
  }
  return value;
};

/** Those of pg, and two that matter to libpq alone. It ignores others, such as a misspelled sslmode. */
const POSTGRES_TLS_PARAMETERS: readonly string[] = [
  ...['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation'],
  ...['sslsni', 'sslcompression'],
];
const SSL_VALUES: readonly string[] = ['true', '1', '0', 'no-verify'];

/** Refuses what would connect in plain text although the URL mentions TLS. */
function requireKnownTls({ searchParams }: URL): void {
  const names = [...searchParams.keys()].filter((name) => /^(ssl|tls)/i.test(name));
  if (!names.every((name) => POSTGRES_TLS_PARAMETERS.includes(name)))
    throw new Error(`has a parameter for TLS other than ${POSTGRES_TLS_PARAMETERS.join(', ')}`);
  const ssl = searchParams.get('ssl');
  if (ssl && !SSL_VALUES.includes(ssl)) throw new Error(`has an ssl other than ${SSL_VALUES.join(', ')}`);
  if (!ssl && !searchParams.get('sslmode') && names.some((name) => searchParams.get(name) === ''))
    throw new Error('has an empty parameter for TLS');
}

/** The URL of a PostgreSQL database. It may contain a password, so errors do not repeat it. */
export const postgresUrl: Parser<string> = (value) => {
  const parsed = parsePostgresUrl(value);
  if (!parsed) throw new Error('must be a postgres URL such as postgres://user:password@host:5432/database');
  requirePercentEncoding(parsed);
  requireKnownTls(parsed);
  return value;
};

function parsePostgresUrl(value: string): URL | undefined {
  const parsed = URL.parse(value);
  return parsed && ['postgres:', 'postgresql:'].includes(parsed.protocol) ? parsed : undefined;
}

/** URLs of PostgreSQL databases, separated by commas. */
export const postgresUrls: Parser<readonly string[]> = (value) =>
  value === '' ? [] : value.split(',').map((each) => postgresUrl(each.trim()));

/** The store of rate-limit counts. A URL may contain a password, so errors do not repeat it. */
export const rateLimitStore: Parser<string> = (value) => {
  if (value === 'memory' || value === 'postgresql') return value;
  if (!parsePostgresUrl(value))
    throw new Error(
      'must be memory, postgresql or a URL such as postgres://user:password@host:5432/database',
    );
  return postgresUrl(value);
};

/** The address of a Temporal server, as its SDK takes it. The port is optional. */
export const temporalAddress: Parser<string> = (value) => {
  if (!/^(\[[\da-f:.]+\]|[^\s:/@]+)(:\d+)?$/i.test(value) || !URL.canParse(`tcp://${value}`))
    throw new Error('must be host:port such as localhost:7233');
  return value;
};

export const readableFile: Parser<string> = (path) => {
  try {
    readFileSync(path);
  } catch (error) {
    throw new Error('must name a readable file', { cause: error });
  }
  return path;
};

export const certificateFile: Parser<string> = (path) =>
  pemFile(path, 'a certificate', (pem) => new X509Certificate(pem));

/** The path of a PEM file with a private key. Errors do not repeat its content. */
export const privateKeyFile: Parser<string> = (path) =>
  pemFile(path, 'a private key without a passphrase', createPrivateKey);

function pemFile(path: string, content: string, parse: (pem: string) => unknown): string {
  try {
    parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`must name a readable PEM file with ${content}`, { cause: error });
  }
  return path;
}

export const keyRing: Parser<KeyRing> = (value) => KeyRing.parse(value);

/** Ports and ranges of ports: `443,1024-65535`. */
export const portRanges: Parser<readonly PortRange[]> = (value) =>
  value.split(',').map((range) => {
    const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(range.trim());
    const from = Number(match?.[1]);
    const to = Number(match?.[2] ?? match?.[1]);
    if (!match || from < 1 || to > 65535 || from > to)
      throw new Error('must list ports or ranges such as 443,1024-65535');
    return { from, to };
  });

/** CIDRs separated by commas, validated and unchanged. */
export const addressBlocks: Parser<readonly string[]> = (value) => {
  if (value === '') return [];
  const blocks = value.split(',').map((block) => block.trim());
  try {
    for (const block of blocks) parseCidr(block);
  } catch (error) {
    const message = 'must be a comma-separated list of CIDRs such as 127.0.0.0/8,::1/128';
    throw new Error(message, { cause: error });
  }
  return blocks;
};

/** A caller of the internal services: name, SHA-256 of its token, grants. */
export interface ServiceToken {
  readonly name: string;
  readonly tokenSha256: string;
  readonly grants: readonly string[];
}

/** `name|sha256 in hex|grant grant …` separated by semicolons. */
export const serviceTokens: Parser<readonly ServiceToken[]> = (value) =>
  callers(value, {
    identity: 'sha256 of the token in hex',
    parse: (tokenSha256) => (/^[0-9a-f]{64}$/.test(tokenSha256) ? { tokenSha256 } : undefined),
  });

/** A caller of the internal services: name, the URI in its certificate, grants. */
export interface CertificateCaller {
  readonly name: string;
  readonly uri: string;
  readonly grants: readonly string[];
}

/** `name|URI|grant grant …` separated by semicolons. */
export const certificateCallers: Parser<readonly CertificateCaller[]> = (value) =>
  callers(value, {
    identity: 'URI of the certificate',
    parse: (uri) => (URL.canParse(uri) ? { uri } : undefined),
  });

interface CallerIdentity<T> {
  /** For errors. */
  readonly identity: string;
  readonly parse: (text: string) => T | undefined;
}

function callers<T>(value: string, { identity, parse }: CallerIdentity<T>) {
  if (value === '') return [];
  const found = new Set<string>();
  return value.split(';').map((entry) => {
    const [name = '', text = '', grants = ''] = entry.trim().split('|');
    const identified = parse(text);
    if (!/^[a-z][a-z0-9-]{0,63}$/.test(name) || !identified) {
      throw new Error(`must list name|${identity}|grants, separated by ;`);
    }
    if (found.has(text)) throw new Error(`gives two callers the same ${identity}`);
    found.add(text);
    const granted = grants.split(/\s+/).filter(Boolean);
    const unknown = granted.find((grant) => !isGrant(grant));
    if (unknown !== undefined) throw new Error(`names the unknown grant ${unknown} for ${name}`);
    return { name, grants: granted, ...identified };
  });
}
