import { randomUUID } from 'node:crypto';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureSchedules } from '../../workflows/schedules.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/temporal/search-attributes.ts';
import { prepareNamespace } from '../../workflows/temporal/temporal-namespace.ts';
import { TEMPORAL_START_MS, type TestNamespace } from '../support/temporal.ts';
import { createTestNamespace } from '../support/temporal-namespace.ts';

let temporal: TestNamespace;
let connection: NativeConnection;

beforeAll(async () => {
  temporal = await createTestNamespace();
  connection = await NativeConnection.connect({ address: temporal.address });
}, TEMPORAL_START_MS);

afterAll(async () => {
  await connection?.close();
  await temporal?.[Symbol.asyncDispose]();
});

describe('prepareNamespace', () => {
  it('creates a namespace whose workflows can be found by every search attribute', async () => {
    const namespace = `test-${randomUUID()}`;
    await prepareNamespace(connection, namespace);
    const query = SEARCH_ATTRIBUTES.map(({ name }) => `${name} = 'none'`).join(' and ');
    const { count } = await connection.workflowService.countWorkflowExecutions({ namespace, query });
    expect(Number(count)).toBe(0);
  });

  it('leaves a healthy one unchanged', async () => {
    const namespace = `test-${randomUUID()}`;
    await prepareNamespace(connection, namespace);
    const described = () => connection.workflowService.describeNamespace({ namespace });
    const before = await described();
    await prepareNamespace(connection, namespace);
    expect(await described()).toEqual(before);
  });
});

describe('ensureSchedules', () => {
  const countSchedules = async () => {
    let count = 0;
    for await (const _ of temporal.client.schedule.list()) count += 1;
    return count;
  };

  it('creates the Schedules on a retry when an earlier step fails', async () => {
    const resends: string[] = [];
    const failing = () => Promise.reject(new Error('the services are away'));
    await expect(ensureSchedules(temporal.client, failing)).rejects.toThrow('the services are away');
    expect(await countSchedules()).toBe(0);
    const resend = async () => resends.push('resent');
    await ensureSchedules(temporal.client, resend);
    await ensureSchedules(temporal.client, resend);
    expect(resends).toEqual(['resent']);
    await expect.poll(countSchedules).toBeGreaterThan(0);
  });
});
