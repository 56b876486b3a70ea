import type { AddressPolicy } from './address-policy.ts';
import { type Host, readHost } from './host.ts';

export const MAX_WEBHOOK_URL_LENGTH = 2048;

/** A range of ports, inclusive. */
export interface PortRange {
  readonly from: number;
  readonly to: number;
}

export interface WebhookUrlRules {
  readonly addresses: AddressPolicy;
  readonly allowedPorts: readonly PortRange[];
}

export interface WebhookUrl {
  /** As serialized by the WHATWG URL parser: stored, shown and called in this form. */
  readonly href: string;
  /** `href` without a trailing dot of the host; unique among the subscriptions of a merchant and environment. */
  readonly uniqueForm: string;
  readonly host: Host;
  readonly origin: string;
  /** With the query. */
  readonly path: string;
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

/** `detail` says what the URL must be or have, for people. It never names an address that a name resolved to. */
export type WebhookUrlCheck =
  | { readonly ok: true; readonly url: WebhookUrl }
  | { readonly ok: false; readonly reason: WebhookUrlRefusal; readonly detail: string };

/**
 * Checks everything about a URL that does not need DNS. A special-use name passes when an allow-list is set; resolving it
 * later decides whether its addresses are in the list.
 */
export function checkWebhookUrl(text: string, rules: WebhookUrlRules): WebhookUrlCheck {
  if (isTooLong(text)) return refuse('TOO_LONG', TOO_LONG_DETAIL);
  const url = URL.parse(text);
  if (url === null) return refuse('MALFORMED', 'must be a valid, absolute URL');
  // Percent-encoding lengthens a URL, and the serialized form is stored.
  if (isTooLong(url.href)) return refuse('TOO_LONG', TOO_LONG_DETAIL);
  if (url.protocol !== 'https:') return refuse('NOT_HTTPS', NOT_HTTPS_DETAIL);
  if (url.username !== '' || url.password !== '') {
    return refuse('HAS_CREDENTIALS', 'must not contain a user name or password');
  }
  if (url.href.includes('#')) return refuse('HAS_FRAGMENT', 'must not have a fragment');
  if (!isPortAllowed(rules.allowedPorts, portOf(url))) {
    return refuse('PORT_NOT_ALLOWED', `must have one of the ports ${describe(rules.allowedPorts)}`);
  }
  const host = readHost(url.hostname);
  if (host === undefined) return refuse('MALFORMED', 'must have a valid DNS name as its host');
  if (!isHostAcceptable(host, rules.addresses)) return refuse('HOST_NOT_PUBLIC', HOST_NOT_PUBLIC_DETAIL);
  const { href, origin, pathname, search } = url;
  return { ok: true, url: { href, uniqueForm: uniqueFormOf(url), host, origin, path: pathname + search } };
}

/** A hint for URLs that only the developer's own machine can reach. */
const OWN_MACHINE = 'To receive sandbox webhooks on your own machine, run npx merchant-payments listen.';
const NOT_HTTPS_DETAIL = `must use https. ${OWN_MACHINE}`;
export const HOST_NOT_PUBLIC_DETAIL = `must have a host on the public internet. ${OWN_MACHINE}`;
const TOO_LONG_DETAIL = `must be at most ${MAX_WEBHOOK_URL_LENGTH} characters long, also as the service stores it`;

function portOf(url: URL): number {
  return url.port === '' ? 443 : Number(url.port);
}

export function isPortAllowed(ranges: readonly PortRange[], port: number): boolean {
  return ranges.some(({ from, to }) => from <= port && port <= to);
}

const isHostAcceptable = (host: Host, addresses: AddressPolicy): boolean =>
  host.kind === 'ADDRESS'
    ? addresses.classify(host.address) !== 'FORBIDDEN'
    : !host.specialUse || addresses.hasExemptions;

function uniqueFormOf(url: URL): string {
  const unique = new URL(url);
  unique.hostname = url.hostname.replace(/\.$/, '');
  return unique.href;
}

function isTooLong(text: string): boolean {
  // Counts code points like JSON Schema; the first check avoids counting very long texts.
  return text.length > MAX_WEBHOOK_URL_LENGTH * 2 || [...text].length > MAX_WEBHOOK_URL_LENGTH;
}

function describe(ranges: readonly PortRange[]): string {
  return ranges.map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`)).join(', ');
}

function refuse(reason: WebhookUrlRefusal, detail: string): WebhookUrlCheck {
  return { ok: false, reason, detail };
}
