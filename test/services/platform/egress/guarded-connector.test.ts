import http from 'node:http';
import net from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { issueCertificate } from '../../../../local/certificates.ts';
import type { EgressFailureKind } from '../../../../services/platform/egress/egress-error.ts';
import type { EgressSettings } from '../../../../services/platform/egress/egress-guard.ts';
import type { Dial } from '../../../../services/platform/egress/guarded-connector.ts';
import { startDnsResponder } from '../../../support/dns-responder.ts';
import { createLoopbackGuard, post } from '../../../support/loopback-guard.ts';
import { selfSignedCertificate } from '../../../support/self-signed-certificate.ts';
import { listen, startReceiver, TEST_NAMES, testAuthority } from '../../../support/tls-receiver.ts';
import { HOSTILE_HOSTS } from './hostile-urls.ts';

const LIVE = { allowCidrs: [] };
const PUBLIC = '93.184.215.14';

afterEach(() => vi.unstubAllEnvs());

async function expectFailure(sending: Promise<unknown>, kind: EgressFailureKind) {
  await expect(sending).rejects.toMatchObject({ name: 'EgressError', kind });
}

describe('connecting', () => {
  it('neither resolves nor dials a hostile host', async () => {
    const dial = vi.fn<Dial>(net.connect);
    const asPublic = vi.fn(async () => [PUBLIC]);
    // Setting a guard up costs more than a connection.
    await using guard = createLoopbackGuard(LIVE, { dial, dnsLookup: asPublic, systemLookup: asPublic });
    for (const host of HOSTILE_HOSTS) {
      const failure = await post(guard, `https://${host}:8443/`).catch((error: unknown) => error);
      expect(failure, host).toMatchObject({ name: 'EgressError', kind: 'EGRESS_DENIED' });
      expect([dial.mock.calls, asPublic.mock.calls], host).toEqual([[], []]);
    }
  });

  it.each(['http://hooks.example.com:8443/', 'https://hooks.example.com:22/', 'https://hooks..example.com/'])(
    'dials nothing for %s',
    async (href) => {
      const dial = vi.fn<Dial>(net.connect);
      await using guard = createLoopbackGuard({}, { dial });
      await expectFailure(post(guard, href), 'EGRESS_DENIED');
      expect(dial).not.toHaveBeenCalled();
    },
  );

  it('reaches a name, an IPv4 and an IPv6 address, and verifies the given name', async () => {
    const serverNames: unknown[] = [];
    await using v4 = await startReceiver((request, response) => {
      serverNames.push((request.socket as TLSSocket & { servername: unknown }).servername);
      response.writeHead(204, { connection: 'close' }).end();
    });
    await using v6 = await startReceiver(undefined, { listenOn: '::1' });
    await using guard = createLoopbackGuard();
    for (const host of ['hooks.example.com', 'hooks.example.com.', '127.0.0.1']) {
      expect(await post(guard, `https://${host}:${v4.port}/`)).toBe(204);
    }
    expect(await post(guard, `https://[::1]:${v6.port}/`)).toBe(204);
    expect(serverNames).toEqual(['hooks.example.com', 'hooks.example.com', false]);
    expect(v4.requests.map(({ headers }) => headers.host)).toEqual(
      ['hooks.example.com', 'hooks.example.com.', '127.0.0.1'].map((host) => `${host}:${v4.port}`),
    );
  });

  it('resolves once per connection, and refuses when DNS is rebound to a private address', async () => {
    let address = '127.0.0.1';
    await using dns = await startDnsResponder(() => [address]);
    await using receiver = await startReceiver((_request, response) => {
      address = '10.0.0.1';
      response.writeHead(204, { connection: 'close' }).end();
    });
    await using guard = createLoopbackGuard({ dnsServers: [dns.server] });
    expect(await post(guard, `https://hooks.example.com:${receiver.port}/`)).toBe(204);
    expect(dns.questions.toSorted()).toEqual(['A hooks.example.com', 'AAAA hooks.example.com']);
    await expectFailure(post(guard, `https://hooks.example.com:${receiver.port}/`), 'EGRESS_DENIED');
    expect(receiver.connections).toHaveLength(1);
  });

  it('refuses all addresses if one of them is forbidden', async () => {
    await using dns = await startDnsResponder(() => ['127.0.0.1', '169.254.169.254']);
    await using receiver = await startReceiver();
    await using guard = createLoopbackGuard({ dnsServers: [dns.server] });
    await expectFailure(post(guard, `https://hooks.example.com:${receiver.port}/`), 'EGRESS_DENIED');
    expect(receiver.connections).toEqual([]);
  });

  it('continues with the next checked address when one refuses', async () => {
    await using receiver = await startReceiver();
    await using guard = createLoopbackGuard({}, { dnsLookup: async () => ['127.0.0.2', '127.0.0.1'] });
    expect(await post(guard, `https://hooks.example.com:${receiver.port}/`)).toBe(204);
  });

  it('dials at most eight addresses of a name', async () => {
    await using receiver = await startReceiver();
    const silent = Array.from({ length: 8 }, (_, index) => `127.0.0.${index + 2}`);
    await using guard = createLoopbackGuard({}, { dnsLookup: async () => [...silent, '127.0.0.1'] });
    await expectFailure(post(guard, `https://hooks.example.com:${receiver.port}/`), 'CONNECTION_REFUSED');
    expect(receiver.connections).toEqual([]);
  });

  it('sends no byte to an address other than the checked ones', async () => {
    let bytes = 0;
    const server = net.createServer((socket) => socket.on('data', (chunk) => (bytes += chunk.length)));
    await using elsewhere = await listen(server, '127.0.0.1');
    const dial = () => net.connect(elsewhere.port, '127.0.0.1');
    await using guard = createLoopbackGuard(LIVE, { dial, dnsLookup: async () => [PUBLIC] });
    await expectFailure(post(guard, 'https://hooks.example.com/'), 'EGRESS_DENIED');
    await vi.waitFor(
      () => expect(elsewhere.connections.every((socket) => socket.destroyed)).toBe(true),
      10_000,
    );
    expect(elsewhere.connections).toHaveLength(1);
    expect(bytes).toBe(0);
  });

  const inAnHour = new Date(Date.now() + 3_600_000);
  it.each([
    ['of an unknown authority', { names: TEST_NAMES }, 'CERTIFICATE_UNKNOWN_ISSUER', { extraCa: undefined }],
    ['for another name', { names: ['a.example.com', '*.b.example.com'] }, 'CERTIFICATE_WRONG_NAME'],
    ['for an address of its name only', { names: ['127.0.0.1'] }, 'CERTIFICATE_WRONG_NAME'],
    [
      'that has expired',
      { names: TEST_NAMES, notBefore: new Date(0), notAfter: new Date(1e12) },
      'CERTIFICATE_EXPIRED',
    ],
    ['that is not valid yet', { names: TEST_NAMES, notBefore: inAnHour }, 'CERTIFICATE_NOT_YET_VALID'],
    ['that is self-signed', 'SELF_SIGNED', 'CERTIFICATE_SELF_SIGNED'],
  ] as const)(
    'rejects a certificate %s, whatever the environment variables say',
    async (_which, request, kind, settings?: Partial<EgressSettings>) => {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
      const certificate =
        request === 'SELF_SIGNED'
          ? await selfSignedCertificate('hooks.example.com')
          : await issueCertificate(testAuthority, request);
      await using receiver = await startReceiver(undefined, { certificate });
      await using guard = createLoopbackGuard(settings);
      await expectFailure(post(guard, `https://hooks.example.com:${receiver.port}/`), kind);
      expect(receiver.requests).toEqual([]);
    },
  );

  it('recognizes a private authority that sends its own certificate along', async () => {
    const { certificatePem, privateKeyPem } = await issueCertificate(testAuthority, { names: TEST_NAMES });
    const certificate = {
      privateKeyPem,
      certificatePem: `${certificatePem}\n${testAuthority.certificatePem}`,
    };
    await using receiver = await startReceiver(undefined, { certificate });
    await using guard = createLoopbackGuard({ extraCa: undefined });
    await expectFailure(
      post(guard, `https://hooks.example.com:${receiver.port}/`),
      'CERTIFICATE_UNKNOWN_ISSUER',
    );
  });

  it('recognizes a port that serves plain HTTP, and a handshake that fails otherwise', async () => {
    await using plain = await listen(http.createServer(), '127.0.0.1');
    await using guard = createLoopbackGuard();
    await expectFailure(post(guard, `https://hooks.example.com:${plain.port}/`), 'NOT_TLS');
    await using old = await startReceiver(undefined, { maxVersion: 'TLSv1.1' });
    await expectFailure(post(guard, `https://hooks.example.com:${old.port}/`), 'TLS');
  });

  it('reports a closed port as refused, and a server that closes the connection as reset', async () => {
    await using guard = createLoopbackGuard();
    const closed = await startReceiver();
    await closed[Symbol.asyncDispose]();
    await expectFailure(post(guard, `https://hooks.example.com:${closed.port}/`), 'CONNECTION_REFUSED');
    await using abrupt = await listen(
      net.createServer((socket) => socket.resetAndDestroy()),
      '127.0.0.1',
    );
    await expectFailure(post(guard, `https://hooks.example.com:${abrupt.port}/`), 'CONNECTION_RESET');
    await using polite = await listen(
      net.createServer((socket) => socket.end()),
      '127.0.0.1',
    );
    await expectFailure(post(guard, `https://hooks.example.com:${polite.port}/`), 'CONNECTION_RESET');
    expect(polite.connections).toHaveLength(1);
  });

  it('times out a slow handshake and a slow DNS server, and closes the connection', async () => {
    let hungUp = false;
    const server = net.createServer((socket) => socket.resume().on('end', () => (hungUp = true)));
    await using silent = await listen(server, '127.0.0.1');
    await using guard = createLoopbackGuard({ connectTimeoutMs: 300 });
    await expectFailure(post(guard, `https://hooks.example.com:${silent.port}/`), 'TLS_TIMEOUT');
    await vi.waitFor(() => expect(hungUp).toBe(true), 40_000);
    await using dns = await startDnsResponder(() => 'SILENCE');
    await using deaf = createLoopbackGuard({ connectTimeoutMs: 300, dnsServers: [dns.server] });
    await expectFailure(post(deaf, `https://hooks.example.com:${silent.port}/`), 'DNS_TIMEOUT');
  });

  it('reports that a name does not resolve', async () => {
    await using dns = await startDnsResponder(() => 'NXDOMAIN');
    await using guard = createLoopbackGuard({ dnsServers: [dns.server] });
    await expectFailure(post(guard, 'https://hooks.example.com/'), 'DNS');
  });
});
