// Run as a program: fetches the Temporal server as the SDK does, into the folder given. In a process of its own
// because the SDK's native runtime is one per process and belongs to the worker.
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
