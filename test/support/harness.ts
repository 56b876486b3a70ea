import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { inject } from 'vitest';
import { newKeyRings } from '../../local/generated-secrets.ts';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { type Config, readConfig } from '../../services/platform/process/config.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { ALL_GRANTS } from '../../services/platform/rpc/grants.ts';
import { bearer } from '../../services/platform/rpc/remote-transport.ts';
import { createServices, type Services } from '../../services/server.ts';
import { newServiceToken } from './secrets.ts';
import { query } from './sql.ts';
import { databaseNamed, TEMPLATE } from './template-database.ts';

/** Creates a database for the test, migrated or cloned from another template; returns its URL. */
export async function createTestDatabase(template: string = TEMPLATE): Promise<string> {
  const postgresUrl = inject('postgresUrl');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  // Without the WAL that the default writes of each page.
  await query(postgresUrl, `create database ${name} template ${template} strategy file_copy`);
  return databaseNamed(postgresUrl, name);
}

const EMPTY_TABLES = `
do $$ declare name regclass; begin
  perform set_config('session_replication_role', 'replica', true);
  for name in
    select oid from pg_class
     where relkind = 'r' and relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema', 'public')
       and oid <> 'webhooks.lane'::regclass
  loop execute 'delete from ' || name; end loop;
end $$`;

/** Deletes all rows of a test database but the lanes, which migrations insert. Faster than another database: use it where each test of a file needs an empty one. */
export const emptyDatabase = (url: string) => query(url, EMPTY_TABLES);

/** The settings of a test: random keys, quiet logs, and the test's overrides. */
export function testConfig(overrides: Record<string, string> = {}): Config {
  return readConfig({
    ...newKeyRings(),
    LOG_LEVEL: 'fatal',
    // Most tests execute a refund at a moment that they choose.
    REFUND_EXECUTION: 'manual',
    // Tests sign in more often than people.
    SIGN_IN_LIMIT_ACCOUNT: '1000000',
    SIGN_IN_LIMIT_ADDRESS: '1000000',
    ...overrides,
  });
}

export interface TestHarness {
  readonly services: Services;
  readonly config: Config;
  readonly databaseUrl: string;
  /** The internal port's address. */
  readonly baseUrl: string;
  /** A token of a caller with every grant. */
  readonly token: string;
  /** The same calls over four ways: inside the process, gRPC, and gRPC-Web and Connect over HTTP/1.1. */
  readonly transports: Readonly<Record<'inProcess' | 'grpc' | 'grpcWeb' | 'connect', Transport>>;
  close(): Promise<void>;
}

/** Starts all services on their own port, with this database or a new one. */
export async function startHarness(
  overrides: Record<string, string> = {},
  onStatement?: (sql: string) => void,
  ownDatabaseUrl?: string,
) {
  const { token, entry } = newServiceToken('test');
  const databaseUrl = ownDatabaseUrl ?? (await createTestDatabase());
  const config = testConfig({ SERVICE_TOKENS: entry, ...overrides });
  const logger = createLogger(config.LOG_LEVEL);
  const services = await createServices({ config, databaseUrl, logger, ...(onStatement && { onStatement }) });
  await services.server.listen({ host: '127.0.0.1', port: 0 });
  const baseUrl = `http://127.0.0.1:${(services.server.server.address() as AddressInfo).port}`;
  const harness: TestHarness = {
    services,
    config,
    databaseUrl,
    baseUrl,
    token,
    transports: {
      inProcess: services.transportFor({ name: 'test', grants: new Set(ALL_GRANTS) }),
      grpc: createGrpcTransport({ baseUrl, interceptors: [bearer(token)] }),
      grpcWeb: createGrpcWebTransport({ baseUrl, httpVersion: '1.1', interceptors: [bearer(token)] }),
      connect: createConnectTransport({ baseUrl, httpVersion: '1.1', interceptors: [bearer(token)] }),
    },
    close: () => services.close(),
  };
  return harness;
}

/** A merchant's environment, as requests name it. */
export interface TestTenant {
  readonly merchantId: string;
  readonly environment: Environment;
}

/** A new merchant, in live. */
export const newTenant = (environment: Environment = Environment.LIVE): TestTenant => ({
  merchantId: randomUUID(),
  environment,
});

/** A fresh idempotency key. */
export const newKey = () => randomUUID();

/** A request, or only its tenant, as a new write: with a fresh idempotency key. */
export const newWrite = <T extends object>(tenant: T) => ({ ...tenant, idempotencyKey: newKey() });
