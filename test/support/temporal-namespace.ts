import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { inject } from 'vitest';
import { prepareNamespace } from '../../workflows/temporal/temporal-namespace.ts';
import { bundleFile } from '../../workflows/workflow-bundle.ts';
import { recordHistories } from './recorded-histories.ts';
import type { TestNamespace } from './temporal.ts';

const { RECORD_HISTORIES } = process.env;

/** A new namespace of the server that the test files of this run share: for tests that never stop their Temporal. */
export async function createTestNamespace(): Promise<TestNamespace> {
  const address = inject('temporalAddress');
  const namespace = `test-${randomUUID()}`;
  const connection = await Connection.connect({ address });
  await prepareNamespace(connection, namespace);
  const client = new Client({ connection, namespace });
  return {
    address,
    namespace,
    client,
    async [Symbol.asyncDispose]() {
      if (RECORD_HISTORIES) await recordHistories(client, RECORD_HISTORIES);
      await connection.close();
    },
  };
}

/** The workflow code of the product, bundled once for this run. */
export const testWorkflowBundle = () =>
  ({ codePath: join(inject('workflowBundleFolder'), bundleFile(false)) }) satisfies WorkflowBundleOption;

/** The same, as a setting of a program. */
export const testWorkflowBundles = () => ({ WORKFLOW_BUNDLE_DIR: inject('workflowBundleFolder') });
