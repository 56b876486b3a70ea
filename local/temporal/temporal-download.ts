// A program: downloads the Temporal server into the given folder with the Temporal SDK. It runs in its own process
// because the SDK allows one native runtime per process, which the worker uses.
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [downloadDir] = process.argv.slice(2);
if (!downloadDir) throw new Error('usage: temporal-download.ts <folder>');
try {
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { ip: '127.0.0.1', executable: { type: 'cached-download', downloadDir, ttl: '3650 days' } },
  });
  await environment.teardown();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
