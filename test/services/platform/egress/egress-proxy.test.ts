import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { issueCertificate } from '../../../../local/certificates.ts';
import { startConnectProxy } from '../../../support/connect-proxy.ts';
import { createLoopbackGuard, post } from '../../../support/loopback-guard.ts';
import { listen, startReceiver, testAuthority } from '../../../support/tls-receiver.ts';

// As in live, nothing but the proxy itself is exempt.
const LIVE = { allowCidrs: [] };
const asPublic = { dnsLookup: async () => ['93.184.215.14', '2606:2800:21f::1'] };

describe('the egress proxy', () => {
  it('gets the checked address; the endpoint proves its name through the tunnel', async () => {
    await using receiver = await startReceiver();
    await using proxy = await startConnectProxy({ tunnelTo: receiver.port });
    await using guard = createLoopbackGuard(
      { ...LIVE, proxyUrl: `http://127.0.0.1:${proxy.port}` },
      asPublic,
    );
    expect(await post(guard, 'https://hooks.example.com/hook')).toBe(204);
    expect(proxy.targets).toEqual(['93.184.215.14:443']);
    expect(receiver.requests[0]?.headers.host).toBe('hooks.example.com');
    await expect(post(guard, 'https://other.example.com/')).rejects.toMatchObject({
      kind: 'CERTIFICATE_WRONG_NAME',
    });
  });

  it('keeps the tunnel for the next request, even after the connect timeout', async () => {
    await using receiver = await startReceiver();
    await using proxy = await startConnectProxy({ tunnelTo: receiver.port });
    const settings = { ...LIVE, proxyUrl: `http://127.0.0.1:${proxy.port}`, connectTimeoutMs: 1_000 };
    await using guard = createLoopbackGuard(settings, asPublic);
    await post(guard, 'https://hooks.example.com/');
    await delay(1_100);
    await post(guard, 'https://hooks.example.com/');
    expect(proxy.targets).toHaveLength(1);
  });

  it('gets the next checked address when it cannot reach one', async () => {
    await using receiver = await startReceiver();
    await using proxy = await startConnectProxy({ tunnelTo: receiver.port, refuseWith: 502, refuseFirst: 1 });
    await using guard = createLoopbackGuard(
      { ...LIVE, proxyUrl: `http://127.0.0.1:${proxy.port}` },
      asPublic,
    );
    expect(await post(guard, 'https://hooks.example.com:8443/')).toBe(204);
    expect(proxy.targets).toEqual(['93.184.215.14:8443', '[2606:2800:21f::1]:8443']);
  });

  it('authenticates to an https proxy', async () => {
    await using receiver = await startReceiver();
    const certificate = await issueCertificate(testAuthority, { names: ['localhost'] });
    await using proxy = await startConnectProxy({ tunnelTo: receiver.port, certificate });
    const proxyUrl = `https://payments:p%40ss@localhost:${proxy.port}`;
    await using guard = createLoopbackGuard({ ...LIVE, proxyUrl }, asPublic);
    expect(await post(guard, 'https://hooks.example.com/')).toBe(204);
    expect(proxy.headers[0]?.['proxy-authorization']).toBe(`Basic ${btoa('payments:p@ss')}`);
    expect(receiver.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
    // By which a proxy may choose its certificate.
    expect(proxy.serverNames).toEqual(['localhost']);
  });

  it('has to prove its name, whatever NODE_TLS_REJECT_UNAUTHORIZED says', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    const certificate = await issueCertificate(testAuthority, { names: ['other.example'] });
    await using proxy = await startConnectProxy({ certificate });
    const proxyUrl = `https://payments:p%40ss@localhost:${proxy.port}`;
    await using guard = createLoopbackGuard({ ...LIVE, proxyUrl }, asPublic);
    await expect(post(guard, 'https://hooks.example.com/')).rejects.toMatchObject({ kind: 'PROXY' });
    expect(proxy.headers).toEqual([]);
  });

  it.each([
    'https://127.0.0.1:8443/',
    'https://localhost:8443/',
    'https://[::ffff:7f00:1]/',
    'https://169.254.169.254/',
  ])('never gets a request for %s', async (href) => {
    await using proxy = await startConnectProxy({});
    await using guard = createLoopbackGuard(
      { ...LIVE, proxyUrl: `http://127.0.0.1:${proxy.port}` },
      asPublic,
    );
    await expect(post(guard, href)).rejects.toMatchObject({ kind: 'EGRESS_DENIED' });
    expect(proxy.connections).toEqual([]);
  });

  it('never gets a name that resolves to a private address', async () => {
    await using proxy = await startConnectProxy({});
    const dnsLookup = async () => ['93.184.215.14', '10.0.0.1'];
    await using guard = createLoopbackGuard(
      { ...LIVE, proxyUrl: `http://127.0.0.1:${proxy.port}` },
      { dnsLookup },
    );
    await expect(post(guard, 'https://hooks.example.com/')).rejects.toMatchObject({ kind: 'EGRESS_DENIED' });
    expect(proxy.connections).toEqual([]);
  });

  it('is reported when it refuses, is unavailable, or does not respond', async () => {
    await using refusing = await startConnectProxy({ refuseWith: 403 });
    await using refused = createLoopbackGuard(
      { ...LIVE, proxyUrl: `http://127.0.0.1:${refusing.port}` },
      asPublic,
    );
    await expect(post(refused, 'https://hooks.example.com/')).rejects.toMatchObject({ kind: 'PROXY' });

    const closed = await startConnectProxy({});
    await closed[Symbol.asyncDispose]();
    await using away = createLoopbackGuard(
      { ...LIVE, proxyUrl: `http://127.0.0.1:${closed.port}` },
      asPublic,
    );
    await expect(post(away, 'https://hooks.example.com/')).rejects.toMatchObject({ kind: 'PROXY' });

    await using silent = await listen(createServer(), '127.0.0.1');
    const settings = { ...LIVE, proxyUrl: `http://127.0.0.1:${silent.port}`, connectTimeoutMs: 200 };
    await using waiting = createLoopbackGuard(settings, asPublic);
    await expect(post(waiting, 'https://hooks.example.com/')).rejects.toMatchObject({
      kind: 'CONNECT_TIMEOUT',
    });
  });

  it('is supported over http and https only', () => {
    expect(() => createLoopbackGuard({ proxyUrl: 'socks5://127.0.0.1:1080' })).toThrow(RangeError);
    expect(() => createLoopbackGuard({ proxyUrl: 'proxy' })).toThrow(TypeError);
  });
});
