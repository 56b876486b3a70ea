// Run as a program: all services and the worker in one process, which kills itself at a step of one merchant's refund.
import type { Transport } from '@connectrpc/connect';
import { readConfig } from '../../services/platform/process/config.ts';
import { runProcess } from '../../services/platform/process/run-process.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { createServices } from '../../services/server.ts';
import { startWorker } from '../../workflows/worker.ts';
import { WORKER_CALLER } from '../../workflows/worker-caller.ts';

/** `<before|within|after> <rpc> <merchant id>`; empty for a process that lives on. */
const [when, rpc, merchantId] = (process.env.DIES ?? '').split(' ');
const CLAIM = 'ClaimCommands';
const CONFIRM = 'ConfirmCommands';

/** Whether commands of the merchant have been handed out. */
let hasClaimed = false;
/** Whether the transaction that is to be left undone has begun. */
let isWithin = false;

/** As the power cut does it. */
const die = () => process.kill(process.pid, 'SIGKILL');

/** The worker's calls: before one nothing is done, after one all is, but nobody outside knows of it. */
function deadly(transport: Transport): Transport {
  return {
    ...transport,
    async unary(method, signal, timeoutMs, header, message, contextValues) {
      const call = () => transport.unary(method, signal, timeoutMs, header, message, contextValues);
      if (method.name === CLAIM) {
        const answer = await call();
        const { commands } = answer.message as unknown as { commands: { merchantId: string }[] };
        hasClaimed ||= commands.some((command) => command.merchantId === merchantId);
        if (hasClaimed && rpc === CLAIM) die();
        return answer;
      }
      const isMeant = Object.values(message).includes(merchantId) || (method.name === CONFIRM && hasClaimed);
      if (method.name !== rpc || !isMeant) return call();
      if (when === 'before') die();
      isWithin = when === 'within';
      const answer = await call();
      if (when === 'after') die();
      return answer;
    },
  };
}

/** The last statement of a write before its commit. */
function onStatement(sql: string): void {
  if (isWithin && sql.includes('insert into platform.idempotency_record')) die();
}

await runProcess('the doomed', async () => {
  const config = readConfig(process.env, { required: ['DATABASE_URL', 'TEMPORAL_ADDRESS'] });
  const logger = createLogger(config.LOG_LEVEL);
  const { DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress } = config;
  const services = await createServices({ config, databaseUrl, logger, onStatement });
  const transport = deadly(services.transportFor(WORKER_CALLER));
  const { WORKFLOW_BUNDLE: codePath } = process.env;
  const workflowBundle = codePath ? { codePath } : undefined;
  const worker = await startWorker({ config, logger, transport, workflowBundle, temporalAddress });
  return {
    async close() {
      await worker.close();
      await services.close();
    },
  };
});
