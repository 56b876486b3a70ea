import { describe, expect, it } from 'vitest';
import type { WebhookUrl } from '../../../../services/platform/egress/webhook-url.ts';
import { type DnsAnswer, startDnsResponder } from '../../../support/dns-responder.ts';
import { createLoopbackGuard, type DisposableGuard } from '../../../support/loopback-guard.ts';

const LIVE = { allowCidrs: [] };

function urlOf(guard: DisposableGuard, text: string): WebhookUrl {
  const check = guard.checkUrl(text);
  if (!check.ok) throw new Error(check.detail);
  return check.url;
}

async function checkWithDns(answer: DnsAnswer) {
  await using dns = await startDnsResponder(() => answer);
  await using guard = createLoopbackGuard({ ...LIVE, dnsServers: [dns.server] });
  return await guard.checkHost(urlOf(guard, 'https://hooks.example.com/'));
}

describe('checking a host at creation', () => {
  it('accepts a name with public addresses, of both families', async () => {
    expect(await checkWithDns(['93.184.215.14', '2606:2800:21f::1'])).toBe('RESOLVES');
  });

  it.each([
    [['127.0.0.1']],
    [['169.254.169.254']],
    [['93.184.215.14', '10.0.0.1']],
    [['93.184.215.14', '93.184.215.15', '::1']],
    [['2606:2800:21f::1', '64:ff9b::a9fe:a9fe']],
    [['::ffff:7f00:1']],
    [['2606:4700::5efe:7f00:1']],
  ])('rejects a name that resolves to %j', async (answer) => {
    expect(await checkWithDns(answer)).toBe('FORBIDDEN');
  });

  it('accepts a name that does not resolve yet', async () => {
    expect(await checkWithDns('NXDOMAIN')).toBe('UNRESOLVED');
    expect(await checkWithDns([])).toBe('UNRESOLVED');
  });

  it('waits at most a second for a DNS server that does not respond', async () => {
    const startedMs = performance.now();
    expect(await checkWithDns('SILENCE')).toBe('UNRESOLVED');
    expect(performance.now() - startedMs).toBeGreaterThan(900);
    expect(performance.now() - startedMs).toBeLessThan(2000);
  });

  it('accepts one address family if the other gets no response, from several servers', async () => {
    const questions: string[] = [];
    const start = () =>
      startDnsResponder((_name, type) => {
        questions.push(type);
        return type === 'AAAA' ? 'SILENCE' : ['10.0.0.1'];
      });
    await using first = await start();
    await using second = await start();
    await using third = await start();
    const dnsServers = [first.server, second.server, third.server];
    await using guard = createLoopbackGuard({ ...LIVE, dnsServers, creationDnsTimeoutMs: 3500 });
    expect(await guard.checkHost(urlOf(guard, 'https://hooks.example.com/'))).toBe('FORBIDDEN');
    expect(questions.filter((type) => type === 'AAAA').length).toBeGreaterThan(1);
  });

  it('queries DNS for ordinary names only, and nothing for an address', async () => {
    await using dns = await startDnsResponder(() => ['127.0.0.1']);
    await using guard = createLoopbackGuard(
      { dnsServers: [dns.server] },
      { systemLookup: async () => ['127.0.0.1'] },
    );
    for (const text of ['https://localhost:8443/', 'https://127.1:8443/', 'https://[::1]:8443/']) {
      expect(await guard.checkHost(urlOf(guard, text))).toBe('RESOLVES');
    }
    expect(dns.questions).toEqual([]);
    expect(await guard.checkHost(urlOf(guard, 'https://hooks.example.com./'))).toBe('RESOLVES');
    expect(dns.questions.toSorted()).toEqual(['A hooks.example.com', 'AAAA hooks.example.com']);
  });

  it.each([
    ['to no address', async () => []],
    ['to a public address', async () => ['93.184.215.14']],
    ['partly outside the allow-list', async () => ['127.0.0.1', '10.0.0.1']],
    ['not at all', async () => Promise.reject(new Error('ENOTFOUND'))],
  ])('rejects a special-use name that resolves %s', async (_how, systemLookup) => {
    await using guard = createLoopbackGuard({}, { systemLookup });
    expect(await guard.checkHost(urlOf(guard, 'https://receiver:8443/'))).toBe('FORBIDDEN');
  });

  it('resolves localhost with the system resolver', async () => {
    await using guard = createLoopbackGuard();
    expect(await guard.checkHost(urlOf(guard, 'https://localhost:8443/'))).toBe('RESOLVES');
  });
});
