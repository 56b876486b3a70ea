import { AsyncLocalStorage } from 'node:async_hooks';
import type { Transport } from '@connectrpc/connect';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { declaredServices } from '../../local/grants-table.ts';
import { startHarness } from '../support/harness.ts';
import { distributedTables, recordStatements, unscopedStatements } from './distributed-tables.ts';
import { SCENARIOS } from './rpc-scenarios.ts';
import { isScopedToTenant } from './tenant-scope.ts';

/**
 * RPCs that read across merchants: the merchant of a key is not known before it is read, people belong to no merchant
 * or to many, the worker works for all, and a service token belongs to a caller. FollowEvents starts at a position
 * among all events, which reveals nothing about them; test/gateway/listeners.test.ts shows that it sends only the
 * merchant's own events.
 */
const ACROSS_MERCHANTS = new RegExp(
  `^payments\\.(${[
    'apikeys\\.v1\\.ApiKeyService/AuthenticateApiKey',
    'accounts\\.v1\\.AccountService/(StartSession|AuthenticateSession|EndSession|EndAllSessions|ListSessions)',
    'accounts\\.v1\\.AccountService/(ListAccountInvitations|GetMailPreferences|SetMailPreferences)',
    'webhooks\\.v1\\.DispatchService/.*',
    'webhooks\\.v1\\.WebhookListenerService/FollowEvents',
    'servicetokens\\.v1\\.ServiceTokenService/.*',
  ].join('|')})$`,
);
const running = new AsyncLocalStorage<string>();
const statements: { readonly rpc: string; readonly sql: string }[] = [];
const succeeded = new Set<string>();

/** A transport that attributes statements to the RPC that makes them, and records which RPCs succeed. */
function recording(transport: Transport): Transport {
  return {
    ...transport,
    unary: (method, ...call) => {
      const rpc = `${method.parent.typeName}/${method.name}`;
      return running.run(rpc, async () => {
        const answer = await transport.unary(method, ...call);
        succeeded.add(rpc);
        return answer;
      });
    },
    stream: (method, ...call) => {
      const rpc = `${method.parent.typeName}/${method.name}`;
      return running.run(rpc, async () => {
        const answer = await transport.stream(method, ...call);
        succeeded.add(rpc);
        return answer;
      });
    },
  };
}

const record = (sql: string) => statements.push({ rpc: running.getStore() ?? 'outside of RPCs', sql });

/** Every RPC in the proto files, except for those that other teams implement. */
async function declaredRpcs(): Promise<string[]> {
  const methods = (await declaredServices()).flatMap((service) => service.methods);
  return methods.map(({ parent, name }) => `${parent.typeName}/${name}`).sort();
}

describe('statements', async () => {
  const sent = recordStatements();
  const started = await startHarness({ WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' }, record);
  const transports = { ...started.transports, inProcess: recording(started.transports.inProcess) };
  const harness = { ...started, transports };
  afterAll(async () => {
    vi.restoreAllMocks();
    await harness.close();
  });

  test.for(Object.entries(SCENARIOS))(
    'of %s are limited to one merchant in one environment',
    async ([, play]) => {
      statements.length = 0;
      await play(harness);
      expect(statements).not.toEqual([]);
      const stray = statements.filter(
        ({ rpc, sql }) => !ACROSS_MERCHANTS.test(rpc) && !isScopedToTenant(sql),
      );
      expect(stray).toEqual([]);
    },
  );

  test('were recorded for every RPC', async () => {
    expect([...succeeded].sort()).toEqual(await declaredRpcs());
  });

  test('name the merchant of the rows of distributed tables', async () => {
    const distributed = await distributedTables();
    const named = [...sent].join(' ').replaceAll('"', '');
    expect(distributed.filter((table) => !named.includes(table))).toEqual([]);
    expect(await unscopedStatements(sent, distributed)).toEqual([]);
  });

  // Citus sends what such a CTE returns to all nodes: without one of them, no merchant could write.
  test('write distributed tables without a CTE', async () => {
    const distributed = await distributedTables();
    const writes = new RegExp(`\\b(insert into|update|delete from) (${distributed.join('|')})\\b`);
    const plain = [...sent].map((sql) => sql.replaceAll('"', ''));
    expect(plain.filter((sql) => writes.test(sql)).length).toBeGreaterThan(20);
    expect(plain.filter((sql) => writes.test(sql) && /^\s*with\b/.test(sql))).toEqual([]);
  });

  // Citus does not pass set_config on: waits for locks on a node would have no limit.
  test('limit waits for locks with set local', () => {
    const limits = [...sent].filter((sql) => /set local lock_timeout|set_config/.test(sql));
    expect(limits).not.toEqual([]);
    expect(limits.filter((sql) => sql.includes('set_config'))).toEqual([]);
  });
});

describe('the rule', () => {
  const scoped = "p.merchant_id = '1' and p.environment = 'live'";
  test.each([
    [true, 'begin'],
    [true, "select pg_try_advisory_xact_lock(hashtextextended('a.b from c.d', 0)) as locked"],
    [
      true,
      `select * from "funds"."installment" as "p" where "p"."merchant_id" = $1 and "p"."environment" = $2`,
    ],
    [true, `update funds.installment as p set amount_minor = 1 where ${scoped}`],
    [true, 'insert into "funds"."installment" ("merchant_id", "environment", "id") values (1, 2, 3)'],
    [true, "delete from funds.installment where (merchant_id, environment, id) in (('1', 'live', '2'))"],
    [
      true,
      "select * from accounts.member as m join accounts.account as a on a.id = m.account_id where m.merchant_id = '1'",
    ],
    [true, "update accounts.invitation set revoked_at = '2' where merchant_id = '1' and id = '3'"],
    [
      true,
      `select id from webhooks.publish('[{"merchant_id":"1","environment":"live"},{"merchant_id":"1","environment":"live"}]'::json)`,
    ],
    [
      false,
      `select id from webhooks.publish('[{"merchant_id":"1","environment":"live"},{"merchant_id":"1","environment":"test"}]'::json)`,
    ],
    [false, `select id from webhooks.publish('[{"merchant_id":"1"}]'::json)`],
    [false, "update accounts.invitation set revoked_at = '2' where id = '3'"],
    [
      false,
      "select * from accounts.member as m join accounts.account as a on a.name = '2' where m.merchant_id = '1'",
    ],
    [false, "select * from accounts.account where id = '1'"],
    [
      false,
      "select * from accounts.member as m join funds.installment as p on p.id = m.id where m.merchant_id = p.merchant_id and p.merchant_id = '1'",
    ],
    [false, "select email from accounts.merchant_contact where merchant_id = '1'"],
    [false, 'select merchant_id, environment from funds.installment where id = $1'],
    [false, "select id from funds.installment where merchant_id = '1'"],
    [false, "select id from funds.installment where environment = 'live'"],
    [false, "update funds.installment set note = 'merchant_id = 1 and environment = 2' where id = '3'"],
    [
      false,
      "update funds.installment set amount_minor = 0 where id = '3' returning merchant_id, environment",
    ],
    [false, `select * from funds.installment as p join funds.sale as s on s.id = p.sale_id where ${scoped}`],
    [false, "insert into funds.installment (id, note) values ('1', 'merchant_id environment')"],
  ])('reports %j for %s', (keeps, sql) => {
    expect(isScopedToTenant(sql)).toBe(keeps);
  });
});
