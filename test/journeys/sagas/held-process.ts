// Run as a program: all services and the worker in one process, which holds steps of sagas until its parent releases them.
import { readConfig } from '../../../services/platform/process/config.ts';
import { runProcess } from '../../../services/platform/process/run-process.ts';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { createServices } from '../../../services/server.ts';
import { startWorker } from '../../../workflows/worker.ts';
import { WORKER_CALLER } from '../../../workflows/worker-caller.ts';
import { type GateCommand, type GateReport, StepGate } from './step-gate.ts';

const report = (message: GateReport) => process.send?.(message);
const gate = new StepGate((held) => report({ held }));

process.on('message', (command: GateCommand) => {
  if ('hold' in command) {
    gate.arm(command.hold);
    report({ armed: command.hold.merchantId });
  } else {
    void gate.releaseAll().then(() => report({ released: true }));
  }
});

await runProcess('the held process', async () => {
  const config = readConfig(process.env, { required: ['DATABASE_URL', 'TEMPORAL_ADDRESS'] });
  const { DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress } = config;
  const logger = createLogger(config.LOG_LEVEL);
  const services = await createServices({ config, databaseUrl, logger });
  const transport = gate.over(services.transportFor(WORKER_CALLER));
  const worker = await startWorker({ config, logger, transport, temporalAddress });
  return {
    async close() {
      await worker.close();
      await services.close();
    },
  };
});
