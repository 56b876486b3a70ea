import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { PROBLEM_TYPES, type ProblemCode } from '../../gateway/problems/problem-types.ts';
import { newMerchant, startGateways } from './gateway-harness.ts';
import { call, expectOwnHeaders, expectProblem } from './http-call.ts';

const SCRIPT = '/docs/js/scalar.js';
const CODES = Object.keys(PROBLEM_TYPES) as ProblemCode[];

const gateways = await startGateways({ RATE_LIMIT_ADDRESS: '1000' });
afterAll(() => gateways.close());

describe.each(['live', 'test'] as const)('on the %s listener', (environment) => {
  const get = (path: string, options = {}) => call(gateways.ports[environment], path, options);

  it('/docs shows the reference, without a key', async () => {
    const moved = await get('/docs');
    expect(moved).toMatchObject({ status: 301, text: '', headers: { location: '/docs/' } });
    const page = await get(moved.headers.location!);
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('"/openapi.json"');
    expect((await get('/openapi.json')).status).toBe(200);
  });

  it('every error has an entry with its meaning, what to do and an example', async () => {
    const page = await get('/docs/errors');
    expect(page.status).toBe(200);
    for (const code of CODES) {
      const entry = page.text.split(`<section id="${code}">`)[1]!.split('</section>')[0]!;
      expect(entry).toContain(`<dd>${PROBLEM_TYPES[code].status} `);
      expect(entry).toContain('<dt>What to do</dt>');
      expect(entry).toContain('<dt>Try again?</dt>');
      expect(entry).toContain(
        `&quot;type&quot;: &quot;http://127.0.0.1:${gateways.ports[environment]}/docs/errors#${code}&quot;`,
      );
    }
  });
});

describe('the policy of', () => {
  it('the reference allows no other host and no script but its own', async () => {
    const { headers, text } = await call(gateways.ports.live, '/docs/');
    const policy = parsePolicy(headers['content-security-policy']);
    const inline = text.match(/<script type="text\/javascript">(.*?)<\/script>/s)![1]!;
    expect(policy).toEqual({
      'default-src': ["'none'"],
      'script-src': ["'self'", hashOf(inline)],
      'style-src': ["'unsafe-inline'"],
      'img-src': ["'self'", 'data:'],
      'connect-src': ["'self'"],
      'base-uri': ["'none'"],
      'form-action': ["'none'"],
      'frame-ancestors': ["'none'"],
    });
    expect(text.match(/https?:\/\/[^"'\s]+/g)).toBeNull();
    expectOwnHeaders({ headers });
  });

  it('the error pages allow nothing but their own style', async () => {
    const { headers, text } = await call(gateways.ports.live, '/docs/errors');
    const style = text.match(/<style>(.*?)<\/style>/s)![1]!;
    expect(parsePolicy(headers['content-security-policy'])).toMatchObject({
      'default-src': ["'none'"],
      'style-src': [hashOf(style)],
    });
    expect(text).not.toContain('<script');
  });

  it('all other responses keep their policy, including errors below /docs', async () => {
    const strict = "default-src 'none'; frame-ancestors 'none'";
    for (const path of ['/docs', '/docs/nope', '/v1/refund-cases']) {
      const { headers } = await call(gateways.ports.live, path);
      expect(headers['content-security-policy']).toBe(strict);
      expect(headers['cache-control']).toBe('no-store');
    }
  });
});

describe('the script', () => {
  it('is compressed for clients that accept gzip', async () => {
    const plain = await call(gateways.ports.live, SCRIPT);
    expect(plain.headers['content-encoding']).toBeUndefined();
    const response = await fetch(`http://127.0.0.1:${gateways.ports.live}${SCRIPT}`, {
      headers: { 'accept-encoding': 'br, gzip' },
    });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(response.headers.get('vary')).toBe('accept-encoding');
    expect(await response.text()).toBe(plain.text);
    const compressedLength = Number(response.headers.get('content-length'));
    expect(compressedLength).toBeLessThan(plain.text.length / 2);
  });

  it.each(['', 'br', 'gzip;q=0', 'gzip; q=0.0, br'])('is not compressed for "%s"', async (accepted) => {
    const { headers } = await call(gateways.ports.live, SCRIPT, { headers: { 'accept-encoding': accepted } });
    expect(headers['content-encoding']).toBeUndefined();
  });

  it('takes no memory for clients that do not read it', async () => {
    const { text } = await call(gateways.ports.live, SCRIPT);
    const before = process.memoryUsage().arrayBuffers;
    const sockets = Array.from({ length: 60 }, () => connect(gateways.ports.live, '127.0.0.1'));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    for (const socket of sockets) socket.write(`GET ${SCRIPT} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    // Each client reads a first chunk and no more.
    await Promise.all(sockets.map((socket) => once(socket, 'readable')));
    const grown = process.memoryUsage().arrayBuffers - before;
    expect(grown).toBeLessThan((sockets.length / 3) * text.length);
  });
});

describe('the documentation', () => {
  it.each(['/openapi.json', '/docs', '/docs/', SCRIPT, '/docs/errors', '/docs/pt-br/errors'])(
    '%s responds to HEAD as to GET, without the body',
    async (path) => {
      const [got, headed] = [
        await call(gateways.ports.live, path),
        await call(gateways.ports.live, path, { method: 'HEAD' }),
      ];
      expect(headed).toMatchObject({ status: got.status, text: '' });
      for (const name of ['content-type', 'content-length', 'content-security-policy', 'cache-control']) {
        expect(headed.headers[name]).toBe(got.headers[name]);
      }
    },
  );

  it.each(['/docs', '/docs/', SCRIPT, '/docs/errors', '/docs/pt-br/errors'])(
    '%s allows GET and HEAD only',
    async (path) => {
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const answer = await call(gateways.ports.live, path, { method });
        expectProblem(answer, 'METHOD_NOT_ALLOWED');
        expect(answer.headers.allow).toBe('GET, HEAD');
      }
    },
  );

  it.each(['/docs/nope', '/docs//', '/docs/js', '/docs/js/', '/docs/openapi.json', '/docs/errors/'])(
    '%s is another route',
    async (path) => expectProblem(await call(gateways.ports.live, path), 'ROUTE_NOT_FOUND'),
  );
});

it('reading is limited by address, and does not count against any key', async () => {
  const limited = await startGateways({ RATE_LIMIT_ADDRESS: '1' });
  try {
    const { keys } = await newMerchant(limited);
    const list = () => call(limited.ports.live, '/v1/refund-cases', { key: keys.live });
    expect((await list()).status).toBe(200);
    const answers = await Promise.all(Array.from({ length: 4 }, () => call(limited.ports.live, '/docs/')));
    const refused = answers.find(({ status }) => status !== 200)!;
    expectProblem(refused, 'RATE_LIMITED');
    expect(refused.headers['retry-after']).toBe('1');
    expect((await list()).status).toBe(200);
  } finally {
    await limited.close();
  }
});

function parsePolicy(policy: string | string[] | undefined): Record<string, string[]> {
  const directives = String(policy).split('; ');
  return Object.fromEntries(
    directives.map((directive) => {
      const [name = '', ...sources] = directive.split(' ');
      return [name, sources];
    }),
  );
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
