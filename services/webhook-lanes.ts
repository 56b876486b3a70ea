import { Database } from './platform/database/database.ts';
import { OutboxSignal } from './platform/outbox/outbox-signal.ts';
import { PersonCheck } from './platform/people/person-check.ts';
import { closeWithin, WORK_TIMEOUT_MS } from './platform/process/close-within.ts';
import { RPC_TLS, readConfig, TEMPORAL_SECURITY } from './platform/process/config.ts';
import { Drain } from './platform/process/drain.ts';
import { createOpsServer } from './platform/process/ops-server.ts';
import { runProcess } from './platform/process/run-process.ts';
import { createLogger } from './platform/process/telemetry.ts';
import { startTracing } from './platform/tracing/start-tracing.ts';
import { Writes } from './platform/writes/writes.ts';
import { startWebhookLanes } from './webhooks/lanes/webhook-lanes.ts';
import { webhooks } from './webhooks/webhooks.area.ts';

/**
 * Sends webhooks and does nothing else, so that outgoing traffic can have a network of its own. Needs only the
 * database role of webhooks/lanes/database-role.sql and the keys of signing secrets. Does not migrate the database.
 */
await runProcess('webhook-lanes', async () => {
  const config = readConfig(process.env, {
    required: ['DATABASE_URL'],
    unused: ['API_KEY_PEPPERS', 'CURSOR_KEYS', ...TEMPORAL_SECURITY, ...RPC_TLS],
  });
  const { DATABASE_URL: url, DATABASE_POOL_SIZE: poolSize, HOST, OPS_PORT } = config;
  const logger = createLogger(config.LOG_LEVEL);
  await startTracing('webhook-lanes', config, logger);
  const database = await Database.open({
    url,
    poolSize,
    preparedStatements: config.DATABASE_PREPARED_STATEMENTS,
    entities: webhooks.entities,
  });
  const outboxSignal = new OutboxSignal(database, logger);
  const people = new PersonCheck(database, config.DASHBOARD_SESSION_IDLE);
  const writes = new Writes(database, outboxSignal, people, logger);
  const lanes = startWebhookLanes({ config, database, writes, outboxSignal, logger });
  const ready = () => database.ping().then((state) => ({ ok: state === 'up', details: { database: state } }));
  const drain = new Drain(config.STOP_DELAY);
  const ops = createOpsServer({ ready, drain });
  await ops.listen({ host: HOST, port: OPS_PORT });
  logger.info({ ops: OPS_PORT }, 'webhook lanes are running');
  return {
    close: async () => {
      await drain.begin();
      await closeWithin(WORK_TIMEOUT_MS, lanes.close());
      await database.close();
      await ops.close();
    },
  };
});
