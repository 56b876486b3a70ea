import type { AddressPolicy } from './address-policy.ts';
import { type Host, readHost } from './host.ts';

export const MAX_WEBHOOK_URL_LENGTH = 2048;

/** Both ends included. */
export interface PortRange {
  readonly from: number;
  readonly to: number;
}

export interface WebhookUrlRules {
  readonly addresses: AddressPolicy;
  readonly allowedPorts: readonly PortRange[];
}

export interface WebhookUrl {
  /** As the WHATWG parser writes it: what is kept, shown and called. */
  readonly href: string;
  /** `href` without a final dot of the host: one subscription per this. */
  readonly uniqueForm: string;
  readonly host: Host;
}

/** TOO_LONG is the caller's INVALID_REQUEST; every other reason is INVALID_WEBHOOK_URL. */
export type WebhookUrlRefusal =
  | 'TOO_LONG'
  | 'MALFORMED'
  | 'NOT_HTTPS'
  | 'HAS_CREDENTIALS'
  | 'HAS_FRAGMENT'
  | 'PORT_NOT_ALLOWED'
  | 'HOST_NOT_PUBLIC';

/** `detail` is for people and never names an address that a name resolved to. */
export type WebhookUrlVerdict =
  | { readonly ok: true; readonly url: WebhookUrl }
  | { readonly ok: false; readonly reason: WebhookUrlRefusal; readonly detail: string };

/**
 * Judges all about a URL that needs no DNS. A special-use name passes where an allow-list is set;
 * its addresses must then be in that list, which resolving it decides.
 */
export function judgeWebhookUrl(text: string, rules: WebhookUrlRules): WebhookUrlVerdict {
  if (isTooLong(text)) return refuse('TOO_LONG', TOO_LONG_DETAIL);
  const url = URL.parse(text);
  if (url === null) return refuse('MALFORMED', 'The url is not a valid absolute URL.');
  // Percent-encoding lengthens a URL, and it is the written form that is kept.
  if (isTooLong(url.href)) return refuse('TOO_LONG', TOO_LONG_DETAIL);
  if (url.protocol !== 'https:') return refuse('NOT_HTTPS', 'The url must use https.');
  if (url.username !== '' || url.password !== '') {
    return refuse('HAS_CREDENTIALS', 'The url must not hold a user name or password.');
  }
  if (url.href.includes('#')) return refuse('HAS_FRAGMENT', 'The url must not have a fragment.');
  if (!isPortAllowed(rules.allowedPorts, portOf(url))) {
    return refuse('PORT_NOT_ALLOWED', `The port of the url must be one of ${describe(rules.allowedPorts)}.`);
  }
  const host = readHost(url.hostname);
  if (host === undefined) return refuse('MALFORMED', 'The host of the url is not a valid DNS name.');
  if (!isHostAcceptable(host, rules.addresses)) return refuse('HOST_NOT_PUBLIC', HOST_NOT_PUBLIC_DETAIL);
  return { ok: true, url: { href: url.href, uniqueForm: uniqueFormOf(url), host } };
}

export const HOST_NOT_PUBLIC_DETAIL = 'The host of the url is not on the public internet.';
const TOO_LONG_DETAIL = `The url is longer than ${MAX_WEBHOOK_URL_LENGTH} characters.`;

/** The port a URL is called at, its scheme's default included. */
function portOf(url: URL): number {
  return url.port === '' ? 443 : Number(url.port);
}

export function isPortAllowed(ranges: readonly PortRange[], port: number): boolean {
  return ranges.some(({ from, to }) => from <= port && port <= to);
}

function isHostAcceptable(host: Host, addresses: AddressPolicy): boolean {
  switch (host.kind) {
    case 'ADDRESS':
      return addresses.judge(host.address) !== 'FORBIDDEN';
    case 'NAME':
      return !host.specialUse || addresses.hasExemptions;
    default:
      return host satisfies never;
  }
}

function uniqueFormOf(url: URL): string {
  const unique = new URL(url);
  unique.hostname = url.hostname.replace(/\.$/, '');
  return unique.href;
}

function isTooLong(text: string): boolean {
  // Code points, as JSON Schema counts; the first test spares counting what is far too long.
  return text.length > MAX_WEBHOOK_URL_LENGTH * 2 || [...text].length > MAX_WEBHOOK_URL_LENGTH;
}

function describe(ranges: readonly PortRange[]): string {
  return ranges.map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`)).join(', ');
}

function refuse(reason: WebhookUrlRefusal, detail: string): WebhookUrlVerdict {
  return { ok: false, reason, detail };
}
