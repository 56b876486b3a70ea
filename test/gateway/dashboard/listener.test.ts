import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { sharedDashboard } from './dashboard-fixture.ts';

const fixture = await sharedDashboard();

/** Sends bytes that no library would send. */
async function send(bytes: string): Promise<Socket> {
  const socket = connect(Number(new URL(fixture.baseUrl).port), '127.0.0.1');
  // Errors are the attacker's problem.
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

test.for([
  '/%zz',
  '/live/%C3%28/webhooks',
  '/<script>%',
  `/live/${'x'.repeat(8_000)}`,
  '/assets/%2e%2e/dashboard.ts',
  '/assets/..%2fdashboard.ts',
])('a malformed URL gets the usual headers: %#', async (path) => {
  const socket = await send(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 (303|400|404) /);
  expect(head.toLowerCase()).toContain("content-security-policy: default-src 'none'");
  expect(head.toLowerCase()).toContain('x-content-type-options: nosniff');
  if (body) expect(head.toLowerCase()).toContain('content-type: text/html');
  expect(body).not.toMatch(/<script>|FST_|dashboard\.ts<|component/);
});

test.for([
  'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  'POST /sign-out HTTP/1.1\r\nHost: a\r\nContent-Length: 300\r\n\r\na',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\u0000',
])('the dashboard survives clients that send malformed requests and disconnect: %#', async (bytes) => {
  const sockets = await Promise.all(Array.from({ length: 10 }, () => send(bytes)));
  for (const socket of sockets) socket.resetAndDestroy();
  expect((await fetch(`${fixture.baseUrl}/sign-in`)).status).toBe(200);
});

test('an idle connection is closed', () => {
  // Node.js closes it then, even while a response waits to be read.
  expect(fixture.app.server.timeout).toBe(fixture.harness.config.HTTP_REQUEST_TIMEOUT + 30_000);
});

test('idle connections stay open for longer than those of load balancers', async () => {
  const socket = await send('GET /sign-in HTTP/1.1\r\nHost: a\r\n\r\n');
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toContain('Keep-Alive: timeout=620\r\n');
  socket.destroy();
});
