import tls from 'node:tls';
import type { Dispatcher } from 'undici';
import { createAddressPolicy } from './address-policy.ts';
import { createDnsLookup, type Lookup } from './dns-lookup.ts';
import { createGuardedConnector, type Dial } from './guarded-connector.ts';
import { createGuardedPools } from './guarded-pools.ts';
import { checkHost, createHostResolver, type HostCheck, systemLookup } from './host-resolver.ts';
import { TlsSessions } from './tls-sessions.ts';
import { checkWebhookUrl, type PortRange, type WebhookUrl, type WebhookUrlCheck } from './webhook-url.ts';

/** The settings of one environment; live and sandbox have separate guards. */
export interface EgressSettings {
  readonly allowedPorts: readonly PortRange[];
  /** Blocks exempt from the address policy, such as `127.0.0.0/8`. For development and tests: empty for live. */
  readonly allowCidrs?: readonly string[];
  /** PEM text of additional certificate authorities. */
  readonly extraCa?: string | undefined;
  /** `http://` or `https://`, with credentials if required. */
  readonly proxyUrl?: string | undefined;
  /** DNS servers as `address:port` instead of the machine's. */
  readonly dnsServers?: readonly string[] | undefined;
  /** Default 1000: how long a creation waits for DNS. */
  readonly creationDnsTimeoutMs?: number;
  /** Default 5000: DNS, TCP, proxy and TLS together. */
  readonly connectTimeoutMs?: number;
  /** Default 200: concurrent connections, and so requests, per pool; further requests wait. */
  readonly connectionsPerPool?: number;
  /** Default 5000: how often pools without a connection are removed. */
  readonly poolSweepMs?: number;
}

/** Parts that tests may replace. */
export interface EgressParts {
  readonly dnsLookup?: Lookup;
  readonly systemLookup?: Lookup;
  readonly dial?: Dial;
}

export interface EgressGuard {
  /** Checks everything about a URL that does not need DNS. */
  checkUrl(text: string): WebhookUrlCheck;
  /**
   * For creation, after `checkUrl`: resolves the host. One that DNS has not resolved in time is accepted, because every
   * connection is checked again.
   */
  checkHost(url: WebhookUrl): Promise<HostCheck>;
  /** The dispatcher for requests to this URL's origin: guarded connections used only by this pool key. */
  dispatcherFor(poolKey: string, url: WebhookUrl): Dispatcher;
  readonly poolCount: number;
  /** Closes all connections immediately. */
  close(): Promise<void>;
}

/** Accepted URLs are remembered, because every attempt checks its URL: the check depends on nothing but the settings. */
const MAX_ACCEPTED = 1_000;

/**
 * Creates the guard used by both subscription creation and delivery.
 * @throws RangeError, TypeError or an OpenSSL error for a setting that is not a CIDR, URL or PEM.
 */
export function createEgressGuard(settings: EgressSettings, parts: EgressParts = {}): EgressGuard {
  const addresses = createAddressPolicy(settings.allowCidrs);
  const { allowedPorts, creationDnsTimeoutMs = 1000, connectTimeoutMs = 5000 } = settings;
  const dns = createDnsLookup(settings.dnsServers);
  const resolverOf = (dnsLookup: Lookup) =>
    createHostResolver({
      addresses,
      dnsLookup: parts.dnsLookup ?? dnsLookup,
      systemLookup: parts.systemLookup ?? systemLookup,
    });
  const resolveNow = resolverOf(dns.now);
  const secureContext = trustWith(settings.extraCa);
  const proxy = settings.proxyUrl ? { url: proxyUrlOf(settings.proxyUrl), secureContext } : undefined;
  const pools = createGuardedPools({
    connector: createGuardedConnector({
      resolveHost: resolverOf(dns.cached),
      allowedPorts,
      connectTimeoutMs,
      secureContext,
      sessions: new TlsSessions(),
      proxy,
      dial: parts.dial,
    }),
    connectionsPerPool: settings.connectionsPerPool ?? 200,
    sweepMs: settings.poolSweepMs ?? 5_000,
  });
  const accepted = new Map<string, WebhookUrlCheck>();
  return {
    checkUrl(text) {
      const known = accepted.get(text);
      if (known) return known;
      const check = checkWebhookUrl(text, { addresses, allowedPorts });
      if (check.ok) {
        if (accepted.size === MAX_ACCEPTED) accepted.clear();
        accepted.set(text, check);
      }
      return check;
    },
    checkHost: ({ host }) => checkHost(resolveNow, host, creationDnsTimeoutMs),
    dispatcherFor: (poolKey, { origin }) => pools.take(poolKey, origin),
    get poolCount() {
      return pools.size;
    },
    close: () => pools.close(),
  };
}

const contexts = new Map<string | undefined, tls.SecureContext>();

/** Trusts the default authorities and `extraCa`. Kept, because reading the default authorities takes 25 ms. */
function trustWith(extraCa: string | undefined): tls.SecureContext {
  const cached = contexts.get(extraCa);
  if (cached) return cached;
  const ca = extraCa && [...tls.getCACertificates('default'), extraCa];
  const context = tls.createSecureContext({ ca });
  contexts.set(extraCa, context);
  return context;
}

function proxyUrlOf(text: string): URL {
  const url = new URL(text);
  if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  throw new RangeError(`an egress proxy must be http or https, not ${url.protocol}`);
}
