import type { IncomingMessage } from 'node:http';
import type { Config } from '../../services/platform/process/config.ts';
import type { GatewayApp } from '../gateway-app.ts';

type ProxyConfig = Pick<Config, 'TRUSTED_PROXIES'>;

/** An address with the port of its connection, as some proxies append it; IPv6 in brackets. */
const WITH_PORT = /\[([^[\],]*)\](?::\d+)?|\b(\d+(?:\.\d+){3}):\d+/g;

/** Fastify's option of the same name. */
export const trustProxy = ({ TRUSTED_PROXIES }: ProxyConfig): string[] | false =>
  TRUSTED_PROXIES.length > 0 && [...TRUSTED_PROXIES];

/** An X-Forwarded-For without ports. */
export const withoutPorts = (forwarded: string): string => forwarded.replaceAll(WITH_PORT, '$1$2');

/**
 * Removes the ports from X-Forwarded-For before Fastify reads it. With them, no proxy in the chain would be recognized,
 * and all clients would be limited as one of unknown address.
 */
export function ignoreForwardedPorts(app: GatewayApp, { TRUSTED_PROXIES }: ProxyConfig): void {
  if (TRUSTED_PROXIES.length === 0) return;
  app.server.prependListener('request', ({ headers }: IncomingMessage) => {
    const forwarded = headers['x-forwarded-for'];
    if (typeof forwarded === 'string' && forwarded.includes(':'))
      headers['x-forwarded-for'] = withoutPorts(forwarded);
  });
}
