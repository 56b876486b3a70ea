import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { signInFaults } from '../../gateway/dashboard/session/secure-address.ts';
import { findFreePort } from '../../local/ports.ts';
import { ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { newWrite, startHarness } from '../support/harness.ts';
import { startRuntime } from '../support/runtime-process.ts';
import { ALL_SCOPES } from './gateway-harness.ts';
import { call, expectProblem } from './http-call.ts';
import { seedMerchant } from './seed-merchant.ts';

test('serves both environments and the dashboard with services in another process, and reports its readiness', async () => {
  const harness = await startHarness();
  const transport = harness.transports.grpc;
  const tenant = { merchantId: randomUUID(), environment: Environment.TEST };
  const { key } = await createClient(ApiKeyService, transport).issueApiKey({
    ...newWrite(tenant),
    name: 'test',
    scopes: [...ALL_SCOPES],
  });
  const productId = await seedMerchant(transport, tenant.merchantId, tenant.environment).product(
    9_007_199_254_740_991n,
  );
  const [live, sandbox, ops] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const dashboard = await findFreePort();
  const settings = {
    LIVE_PORT: String(live),
    SANDBOX_PORT: String(sandbox),
    OPS_PORT: String(ops),
    DASHBOARD_PORT: String(dashboard),
    SERVICES_URL: harness.baseUrl,
    SERVICE_TOKEN: harness.token,
    DASHBOARD_SERVICE_TOKEN: harness.token,
    OIDC_ISSUER: 'https://issuer.invalid',
  };
  const { child, exited, logged } = startRuntime('gateway/main.ts', settings);
  await expect.poll(logged, { timeout: 40_000 }).toContain('the public API is listening');

  const product = await call(sandbox, `/v1/products/${productId}`, { key });
  expect(product.status).toBe(200);
  expect(product.text).toContain('"amountMinor":9007199254740991,');
  expectProblem(await call(live, `/v1/products/${productId}`, { key }), 'API_KEY_ENVIRONMENT_MISMATCH');
  expectProblem(await call(sandbox, `/v1/products/${randomUUID()}`, { key }), 'PRODUCT_NOT_FOUND');
  expectProblem(await call(sandbox, '/v1/refund-cases?after=abc', { key }), 'INVALID_CURSOR');
  expect((await call(ops, '/healthz')).status).toBe(200);
  expect(await call(ops, '/readyz')).toMatchObject({ status: 200, json: { services: 'SERVING' } });
  expect((await call(ops, '/metrics')).text).toMatch(/operation="getProduct",status="200"\} 1/);
  const requests = () =>
    logged()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'request');
  await expect.poll(requests).toHaveLength(4);
  expect(requests().find(({ operation }) => operation === 'getProduct')).toMatchObject({
    requestId: product.headers['request-id'],
    status: 200,
    merchantId: tenant.merchantId,
    path: `/v1/products/${productId}`,
    environment: 'test',
  });
  expect(logged()).not.toContain(key);

  await expect.poll(logged).toContain('the dashboard is listening');
  const cookie = `__Host-session=${'x'.repeat(43)}`;
  const account = await call(dashboard, '/account', { headers: { cookie } });
  expect([account.status, account.headers.location]).toEqual([303, '/sign-in?return=%2Faccount&ended=1']);
  expect((await call(dashboard, '/sign-in')).text).toContain('issuer.invalid');

  const other = startRuntime('gateway/main.ts', { ...settings, LIVE_PORT: '0', OPS_PORT: '0' });
  expect(await other.exited).toEqual({ exitCode: 1, stderr: expect.stringContaining('EADDRINUSE') });

  await harness.close();
  expectProblem(await call(sandbox, `/v1/products/${productId}`, { key }), 'SERVICE_UNAVAILABLE');
  expect((await call(ops, '/readyz')).status).toBe(503);
  child.kill('SIGTERM');
  expect(await exited).toEqual({ exitCode: 0, stderr: '' });
});

test('does not serve the dashboard over plain HTTP', async () => {
  const { exitCode, stderr } = await startRuntime('gateway/main.ts', {
    LIVE_PORT: '0',
    SANDBOX_PORT: '0',
    OPS_PORT: '0',
    DASHBOARD_PORT: '0',
    SERVICES_URL: 'http://127.0.0.1:9',
    SERVICE_TOKEN: 'x',
    DASHBOARD_SERVICE_TOKEN: 'x',
    HOST: '::',
    OIDC_ISSUER: 'http://issuer.example',
  }).exited;
  expect(exitCode).toBe(1);
  expect(stderr).toContain('  PUBLIC_URL_DASHBOARD must be an https URL');
  expect(stderr).toContain('  OIDC_ISSUER must be an https URL');
  const plain = { HOST: '127.0.0.1', PUBLIC_URL_DASHBOARD: 'http://pay.example', OIDC_ISSUER: undefined };
  expect(signInFaults(plain)).toEqual([expect.stringMatching(/^PUBLIC_URL_DASHBOARD must be an https URL/)]);
});

test('does not start without services', async () => {
  const { exitCode, stderr } = await startRuntime('gateway/main.ts', { LIVE_PORT: 'x' }).exited;
  expect(exitCode).toBe(1);
  expect(stderr.match(/^ {2}[A-Z_]+ .*$/gm)?.map((line) => line.trim().split(' ')[0])).toEqual([
    'LIVE_PORT',
    'SERVICES_URL',
    'SERVICE_TOKEN',
  ]);
});
