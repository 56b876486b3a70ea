import { setTimeout as delay } from 'node:timers/promises';
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, createClient, type Transport } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import {
  ApiKeyScope,
  ApiKeyService,
  KeyAbsentReason,
} from '../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { createServices } from '../../../services/server.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { newTenant, newWrite, startHarness, type TestTenant, testConfig } from '../../support/harness.ts';
import { sqlOf, tablesWith } from '../../support/sql.ts';

const pepper = (version: number) => `v${version}:${Buffer.alloc(32, version).toString('base64')}`;

const harness = await startHarness({ SERVICES: 'api-keys', API_KEY_PEPPERS: pepper(1) });
afterAll(() => harness.close());

const clientOver = (transport: Transport) => createClient(ApiKeyService, transport);
type ApiKeyClient = ReturnType<typeof clientOver>;

const keyRequest = (tenant: TestTenant) => ({
  ...newWrite(tenant),
  name: 'Web shop',
  scopes: [ApiKeyScope.REFUNDS_READ, ApiKeyScope.WEBHOOKS_MANAGE],
});

const soon = () => timestampFromDate(new Date(Date.now() + 400));
const expired = () => new Promise((resolve) => setTimeout(resolve, 450));

describe('ApiKeyService', () => {
  const client = (): ApiKeyClient => clientOver(harness.transports.inProcess);
  const issue = (tenant: TestTenant) => client().issueApiKey(keyRequest(tenant));
  const authenticate = (key: string, environment: Environment) =>
    client().authenticateApiKey({ key, environment });

  it('issues a key that authenticates its merchant with its scopes', async () => {
    const tenant = newTenant();
    const { apiKey, key, keyAbsentReason } = await issue(tenant);
    expect(key).toMatch(/^mpk_live_[0-9A-Za-z]{38}$/);
    expect(keyAbsentReason).toBe(KeyAbsentReason.UNSPECIFIED);
    expect(apiKey).toMatchObject({ ...tenant, name: 'Web shop', hint: key.slice(0, 13) });
    expect(await authenticate(key, tenant.environment)).toMatchObject({
      apiKeyId: apiKey!.id,
      merchantId: tenant.merchantId,
      scopes: [ApiKeyScope.REFUNDS_READ, ApiKeyScope.WEBHOOKS_MANAGE],
    });
  });

  it('returns a key once: a replay returns the record without it', async () => {
    const request = keyRequest(newTenant());
    const first = await client().issueApiKey(request);
    const replay = await client().issueApiKey(request);
    expect(replay).toMatchObject({ key: '', keyAbsentReason: KeyAbsentReason.SECRET_NOT_REPEATED });
    expect(replay.apiKey).toEqual(first.apiKey);
    const rotation = { ...newWrite(tenantIn(request)), apiKeyId: first.apiKey!.id, overlapSeconds: 60 };
    const rotated = await client().rotateApiKey(rotation);
    const again = await client().rotateApiKey(rotation);
    expect(again).toMatchObject({ key: '', keyAbsentReason: KeyAbsentReason.SECRET_NOT_REPEATED });
    expect([again.apiKey, again.rotated]).toEqual([rotated.apiKey, rotated.rotated]);
  });

  it('rejects an expired key in either environment, and does not issue one', async () => {
    const tenant = newTenant();
    const expiresAt = soon();
    const { key, apiKey } = await client().issueApiKey({ ...keyRequest(tenant), expiresAt });
    expect(apiKey?.expiresAt).toEqual(expiresAt);
    expect(await authenticate(key, Environment.LIVE)).toMatchObject({ apiKeyId: apiKey!.id, expiresAt });
    await expired();
    for (const environment of [Environment.LIVE, Environment.TEST]) {
      await expectRefusal(authenticate(key, environment), Code.Unauthenticated, 'API_KEY_EXPIRED');
    }
    await expectRefusal(
      client().issueApiKey({ ...keyRequest(tenant), expiresAt }),
      Code.InvalidArgument,
      'EXPIRES_AT_IN_PAST',
      { field: 'expires_at' },
    );
  });

  it('rotates a key: its successor has its name and scopes, and the old key stays valid for the overlap', async () => {
    const tenant = newTenant();
    const { key, apiKey } = await issue(tenant);
    const rotate = (overlapSeconds: number) =>
      client().rotateApiKey({ ...newWrite(tenant), apiKeyId: apiKey!.id, overlapSeconds });
    const successor = await rotate(60);
    expect(successor.apiKey).toMatchObject({ name: apiKey!.name, scopes: apiKey!.scopes });
    const rotatedAt = timestampDate(successor.apiKey!.createdAt!).getTime();
    expect(timestampDate(successor.rotated!.expiresAt!).getTime()).toBe(rotatedAt + 60_000);
    expect((await authenticate(key, tenant.environment)).apiKeyId).toBe(apiKey!.id);
    expect((await authenticate(successor.key, tenant.environment)).apiKeyId).toBe(successor.apiKey!.id);

    await sqlOf(harness, 'update api_keys.api_key set expires_at = now() where id = $1', [apiKey!.id]);
    await expectRefusal(authenticate(key, tenant.environment), Code.Unauthenticated, 'API_KEY_EXPIRED');
    await expectRefusal(rotate(60), Code.FailedPrecondition, 'API_KEY_STATE', { state: 'EXPIRED' });
    await client().revokeApiKey({ ...newWrite(tenant), apiKeyId: apiKey!.id });
    await expectRefusal(rotate(60), Code.FailedPrecondition, 'API_KEY_STATE', { state: 'REVOKED' });
  });

  it('gives a key one successor, also when it is rotated twice at once', async () => {
    const tenant = newTenant();
    const { apiKey } = await issue(tenant);
    const rotate = () =>
      client().rotateApiKey({ ...newWrite(tenant), apiKeyId: apiKey!.id, overlapSeconds: 60 });
    const results = await Promise.allSettled([rotate(), rotate()]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await client().listApiKeys(tenant)).apiKeys).toHaveLength(2);
    await expectRefusal(rotate(), Code.FailedPrecondition, 'API_KEY_STATE', { state: 'ROTATED' });
  });

  it('rotates a key that a process whose clock is ahead has issued', async () => {
    const tenant = newTenant();
    const { apiKey } = await issue(tenant);
    const createdAt = new Date(Date.now() + 60_000);
    const setCreation = 'update api_keys.api_key set created_at = $2 where id = $1';
    await sqlOf(harness, setCreation, [apiKey!.id, createdAt]);
    const rotation = { ...newWrite(tenant), apiKeyId: apiKey!.id, overlapSeconds: 0 };
    const { rotated } = await client().rotateApiKey(rotation);
    expect(rotated!.expiresAt).toEqual(timestampFromDate(createdAt));
  });

  it('records the last use after the call, at most once a minute', async () => {
    const tenant = newTenant();
    const { key } = await issue(tenant);
    const lastUsedAt = async () => (await client().listApiKeys(tenant)).apiKeys[0]!.lastUsedAt;
    expect(await lastUsedAt()).toBeUndefined();
    const from = Date.now();
    await authenticate(key, tenant.environment);
    await expect.poll(lastUsedAt).toBeDefined();
    const first = await lastUsedAt();
    expect(timestampDate(first!).getTime()).toBeGreaterThanOrEqual(from);
    await authenticate(key, tenant.environment);
    await delay(250);
    expect(await lastUsedAt()).toEqual(first);
    const earlier = `update api_keys.api_key set last_used_at = now() - interval '1 minute' where merchant_id = $1`;
    await sqlOf(harness, earlier, [tenant.merchantId]);
    await authenticate(key, tenant.environment);
    await expect.poll(async () => timestampDate((await lastUsedAt())!) > timestampDate(first!)).toBe(true);
  });

  it('keeps a later use that another process has recorded first', async () => {
    const [tenant, other] = [newTenant(), newTenant()];
    const { apiKey, key } = await issue(tenant);
    const { key: otherKey } = await issue(other);
    await Promise.all([authenticate(key, tenant.environment), authenticate(otherKey, other.environment)]);
    const later = new Date(Date.now() + 60_000);
    await sqlOf(harness, 'update api_keys.api_key set last_used_at = $2 where id = $1', [apiKey!.id, later]);
    const lastUsedAt = async (of: TestTenant) => (await client().listApiKeys(of)).apiKeys[0]!.lastUsedAt;
    // The same statement writes the uses of both keys.
    await expect.poll(() => lastUsedAt(other)).toBeDefined();
    expect(await lastUsedAt(tenant)).toEqual(timestampFromDate(later));
  });

  it('keeps the time of the first revocation', async () => {
    const tenant = newTenant();
    const { apiKey } = await issue(tenant);
    const revoke = () => client().revokeApiKey({ ...newWrite(tenant), apiKeyId: apiKey!.id });
    const first = await revoke();
    await delay(5);
    expect((await revoke()).apiKey!.revokedAt).toEqual(first.apiKey!.revokedAt);
  });
});

describe('a key in the database', () => {
  const client = () => clientOver(harness.transports.inProcess);

  it('is not stored in plain text, in any table', async () => {
    const request = keyRequest(newTenant());
    const { key, apiKey } = await client().issueApiKey(request);
    const rotated = await client().rotateApiKey({
      ...newWrite(tenantIn(request)),
      apiKeyId: apiKey!.id,
      overlapSeconds: 0,
    });
    expect(await tablesWith(harness, [apiKey!.hint])).toContain('api_keys.api_key');
    const secrets = [key, rotated.key].map((each) => each.slice(13));
    expect(await tablesWith(harness, secrets)).toEqual([]);
    const rows = await sqlOf(harness, 'select pepper_version from api_keys.api_key where merchant_id = $1', [
      request.merchantId,
    ]);
    expect(rows).toEqual([{ pepper_version: 1 }, { pepper_version: 1 }]);
  });

  it('is accepted under an older pepper as long as that is configured', async () => {
    const { key, apiKey } = await client().issueApiKey(keyRequest(newTenant()));
    const authenticateWith = async (peppers: string) => {
      const services = await createServices({
        config: testConfig({ SERVICES: 'api-keys', API_KEY_PEPPERS: peppers }),
        databaseUrl: harness.databaseUrl,
        logger: createLogger('fatal'),
      });
      const transport = services.transportFor({ name: 'test', grants: new Set(['authenticate']) });
      const answer = clientOver(transport).authenticateApiKey({ key, environment: Environment.LIVE });
      return answer.finally(() => services.close());
    };
    expect((await authenticateWith(`${pepper(2)},${pepper(1)}`)).apiKeyId).toBe(apiKey!.id);
    await expectRefusal(authenticateWith(pepper(2)), Code.Unauthenticated, 'API_KEY_INVALID');
  });
});

function tenantIn({ merchantId, environment }: TestTenant): TestTenant {
  return { merchantId, environment };
}
